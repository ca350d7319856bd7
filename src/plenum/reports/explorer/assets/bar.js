// The round: a slider, arrows, and Play. What follows from a change is drawRound's.

function tellRound() {
  const { round } = state;
  byId("round").max = lastRound();
  byId("round").value = round;
  byId("play").disabled = byId("round").disabled = lastRound() === 1;
  byId("round").setAttribute("aria-valuetext", `round ${round} of ${lastRound()}`);
  show(byId("round-told"), `${round} of ${lastRound()}`);
}

function setRound(round) {
  if (round === state.round || round < 1 || round > lastRound()) return;
  state.round = round;
  tellRound();
  drawRound();
  writeLink();
}

function stop(playing = null) {
  clearInterval(state.playing);
  state.playing = playing;
  byId("play").setAttribute("aria-pressed", Boolean(playing));
  show(byId("play"), playing ? "Pause" : "Play");
}

function play() {
  if (state.playing) return stop();
  if (state.round === lastRound()) setRound(1);
  stop(setInterval(() => (state.round >= lastRound() ? stop() : setRound(state.round + 1)), 700));
}

// Left and right step through the rounds wherever nothing else takes them.
function stepByKey(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || view !== "replicates" || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  stop();
  setRound(state.round + step);
}

function listenToBar() {
  byId("round").addEventListener("input", (event) => {
    stop();
    setRound(Number(event.target.value));
  });
  byId("play").addEventListener("click", play);
  document.addEventListener("keydown", stepByKey);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address names what is seen
    byId("replicates-title").focus();
  });
}
