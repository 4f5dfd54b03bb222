/** Loaded into a server: each message holds up its event loop, as a machine without CPU would; answers as that begins. */
const HELD_MS = 7000;

process.on('message', () => {
  process.send?.('holds', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HELD_MS);
  });
});
process.channel?.unref();
