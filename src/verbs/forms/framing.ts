import type { ResponseSink } from '../../request/api-response.ts';
import type { Revision } from '../../storage/revision.ts';
import type { TakeEvent } from '../../storage/store.ts';
import type { Form } from './form.ts';

const BOOKMARK_EVERY_MS = 60_000;
/** How long before its deadline a watch gets a last bookmark. */
const BOOKMARK_BEFORE_END_MS = 2000;

interface FramingOptions {
  readonly form: Form;
  readonly sink: ResponseSink;
  /** Whether a bookmark marks the end of the initial events (sendInitialEvents with bookmarks). */
  readonly marksInitialEventsEnd: boolean;
  /** When the watch ends, in epoch milliseconds. */
  readonly deadline: number;
}

/** Sends the events of one watch as frames of its form. */
export class Framing {
  readonly #form: Form;
  readonly #sink: ResponseSink;
  readonly #marksInitialEventsEnd: boolean;
  readonly #deadline: number;
  #nextBookmark: number;
  #isFirst = true;

  constructor({ form, sink, marksInitialEventsEnd, deadline }: FramingOptions) {
    this.#form = form;
    this.#sink = sink;
    this.#marksInitialEventsEnd = marksInitialEventsEnd;
    this.#deadline = deadline;
    this.#nextBookmark = nextBookmark(deadline);
  }

  readonly take: TakeEvent = (event) => {
    switch (event.type) {
      case 'BOOKMARK':
        return this.#bookmarkIfDue(event.revision);
      case 'INITIAL_EVENTS_END': {
        const frames = this.#form.frames;
        const room = this.#marksInitialEventsEnd
          ? this.#send(frames.bookmark(event.revision, true))
          : undefined;
        this.#sink.initialized?.();
        if (this.#marksInitialEventsEnd) this.#sink.listed?.();
        return room;
      }
      default:
        return this.#send(event.encoded(this.#form.frames));
    }
  };

  #bookmarkIfDue(revision: Revision): Promise<void> | undefined {
    if (Date.now() < this.#nextBookmark) return undefined;
    this.#nextBookmark = nextBookmark(this.#deadline);
    return this.#send(this.#form.frames.bookmark(revision, false));
  }

  #send(frame: Buffer): Promise<void> | undefined {
    const bytes = this.#isFirst ? (this.#form.first?.(frame) ?? frame) : frame;
    this.#isFirst = false;
    return this.#sink.write(bytes) ? undefined : this.#sink.drained();
  }
}

/** About a minute ahead, spread so that watches begun together get theirs at different times; or just before the end. */
function nextBookmark(deadline: number): number {
  const now = Date.now();
  const regular = now + BOOKMARK_EVERY_MS * (0.9 + Math.random() * 0.2);
  const last = deadline - BOOKMARK_BEFORE_END_MS;
  return last > now ? Math.min(regular, last) : regular;
}
