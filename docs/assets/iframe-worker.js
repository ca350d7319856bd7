/* The site's search runs in a worker, which browsers refuse to start from file://. There a hidden
   frame does a worker's work: it loads the script, and what either side posts is an event of the other. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const url = new URL(address, location).href;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>worker</title>";
      this.ready = new Promise((resolve) => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          const load = (src) => new Promise((loaded) => {
            const script = Object.assign(inside.document.createElement("script"), {src, onload: loaded});
            inside.document.body.append(script);
          });
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
          inside.importScripts = async (...urls) => {
            for (const each of urls) await load(new URL(each, url).href);
          };
          load(url).then(() => resolve(inside));
        };
      });
      document.body.append(frame);
      this.frame = frame;
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", {data})));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
