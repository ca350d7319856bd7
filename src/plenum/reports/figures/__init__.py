"""The figures of a study: a catalogue of drawings, each with the data that it needs."""
