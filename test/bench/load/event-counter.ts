const BRACE = 0x7d;
const NEWLINE = 0x0a;

/**
 * Counts the events in a watch's bytes. An event is one line of JSON and the only place where a newline follows a brace,
 * in a chunked body too, whose sizes end in \r\n.
 */
export class EventCounter {
  #brace = false;

  /** How many events end in this chunk. */
  count(chunk: Buffer): number {
    if (chunk.length === 0) return 0;
    let events = this.#brace && chunk[0] === NEWLINE ? 1 : 0;
    for (let at = chunk.indexOf(NEWLINE, 1); at > 0; at = chunk.indexOf(NEWLINE, at + 1)) {
      if (chunk[at - 1] === BRACE) events += 1;
    }
    this.#brace = chunk[chunk.length - 1] === BRACE;
    return events;
  }
}
