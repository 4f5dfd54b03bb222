const EVERY_MS = 1000;

/**
 * Says what is under way in a line, and on a terminal for how long already: `building, 12 s`. Plain JavaScript of Node.js 20.
 *
 * @param {string} what
 * @param {{ write(text: string): unknown, isTTY?: boolean }} out
 * @returns {() => void} which ends the line
 */
export function startClock(what, out = process.stdout) {
  if (out.isTTY !== true || process.env.TERM === 'dumb') {
    out.write(`        ${what}\n`);
    return () => {};
  }
  out.write(`        ${what}`);
  const began = Date.now();
  const ticking = setInterval(
    () => out.write(`\r        ${what}, ${Math.round((Date.now() - began) / 1000)} s`),
    EVERY_MS,
  );
  let isEnded = false;
  return () => {
    if (!isEnded) out.write('\n');
    isEnded = true;
    clearInterval(ticking);
  };
}
