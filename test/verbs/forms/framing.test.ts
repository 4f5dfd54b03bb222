import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ResponseSink } from '../../../src/request/api-response.ts';
import { AddedEvent } from '../../../src/storage/added-event.ts';
import { CachedEntry } from '../../../src/storage/cached-entry.ts';
import { toRevision } from '../../../src/storage/revision.ts';
import type { Form } from '../../../src/verbs/forms/form.ts';
import { Framing } from '../../../src/verbs/forms/framing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const key = { group: '', resource: 'configmaps', namespace: 'shop', name: 'one' };
const added = new AddedEvent(
  new CachedEntry({ key, uid: '1', revision: toRevision(7), json: Buffer.from('{}') }, () => ({})),
);

const form = {
  first: (frame: Buffer) => Buffer.concat([Buffer.from('first '), frame]),
  frames: {
    id: 'text',
    encode: ({ type, revision }) => Buffer.from(`${type} ${revision}`),
    bookmark: (revision, isEnd) => Buffer.from(`BOOKMARK ${revision}${isEnd ? ' end' : ''}`),
  },
} satisfies Pick<Form, 'first' | 'frames'>;

/** What a client of a watch that lasts so long gets. */
function watchFor(lastsMs: number, { marksInitialEventsEnd = false } = {}) {
  const sent: string[] = [];
  const room = Promise.resolve();
  let full = false;
  const sink: ResponseSink = {
    open: () => {},
    write: (frame) => {
      sent.push(frame.toString());
      return !full;
    },
    initialized: () => void sent.push('initialized'),
    listed: () => void sent.push('listed'),
    drained: () => room,
  };
  const deadline = Date.now() + lastsMs;
  const framing = new Framing({ form: form as unknown as Form, sink, marksInitialEventsEnd, deadline });
  const fill = (): void => {
    full = true;
  };
  return { take: framing.take, sent, room, fill };
}

test('a bookmark is sent about every minute of those that the store gives each second', () => {
  const { take, sent } = watchFor(3_600_000);
  for (let second = 1; second <= 600; second += 1) {
    vi.advanceTimersByTime(1000);
    take({ type: 'BOOKMARK', revision: toRevision(second) });
  }
  expect(sent.length).toBeGreaterThanOrEqual(9);
  expect(sent.length).toBeLessThanOrEqual(11);
});

test('the last bookmark is sent just before the watch ends', () => {
  const { take, sent } = watchFor(10_000);
  for (let second = 1; second <= 9; second += 1) {
    vi.advanceTimersByTime(1000);
    take({ type: 'BOOKMARK', revision: toRevision(second) });
  }
  expect(sent).toEqual(['first BOOKMARK 8']);
});

test('the end of the state is a bookmark for clients that asked for it, and tells the others nothing', () => {
  const end = { type: 'INITIAL_EVENTS_END', revision: toRevision(9) } as const;
  const marked = watchFor(10_000, { marksInitialEventsEnd: true });
  const plain = watchFor(10_000);
  for (const { take } of [marked, plain]) for (const event of [added, end, added]) take(event);
  expect(marked.sent).toEqual(['first ADDED 7', 'BOOKMARK 9 end', 'initialized', 'listed', 'ADDED 7']);
  expect(plain.sent).toEqual(['first ADDED 7', 'initialized', 'ADDED 7']);
});

test('a frame that fills the connection has the store wait until it has drained', () => {
  const { take, room, fill } = watchFor(10_000);
  expect(take(added)).toBeUndefined();
  fill();
  expect(take(added)).toBe(room);
});
