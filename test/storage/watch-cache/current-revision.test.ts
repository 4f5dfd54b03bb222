import { expect, test, vi } from 'vitest';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import { SharedCurrentRevision } from '../../../src/storage/watch-cache/current-revision.ts';
import { PATIENCE } from '../../kit/patience.ts';

/** Questions that are answered when the test says so. */
function questions() {
  const open: { reads: number; answer: (revision: Revision) => void; fail: (error: Error) => void }[] = [];
  const shared = new SharedCurrentRevision(
    (reads) => new Promise((resolve, reject) => open.push({ reads, answer: resolve, fail: reject })),
  );
  return { open, shared };
}

/** Until so many questions have been asked. */
const asked = (open: readonly unknown[], count: number): Promise<void> =>
  vi.waitFor(() => expect(open).toHaveLength(count), PATIENCE);

test('a read alone asks at once, and asks again each time', async () => {
  const { open, shared } = questions();
  for (let at = 0; at < 3; at += 1) {
    const read = shared.get();
    expect(open.length).toBe(at + 1);
    open[at]?.answer(toRevision(at));
    expect(await read).toBe(toRevision(at));
  }
});

test('reads that come while a question is open share the next one, never its answer', async () => {
  const { open, shared } = questions();
  const first = shared.get();
  const later = Array.from({ length: 10 }, () => shared.get());
  open[0]?.answer(toRevision(1));
  expect(await first).toBe(toRevision(1));
  await asked(open, 2);
  open[1]?.answer(toRevision(2));
  expect(new Set(await Promise.all(later))).toEqual(new Set([toRevision(2)]));
});

test('after many reads shared one question, the next waits a moment for more, and those share it', async () => {
  const { open, shared } = questions();
  const many = Array.from({ length: 10 }, () => shared.get());
  open[0]?.answer(toRevision(1));
  await asked(open, 2);
  open[1]?.answer(toRevision(1));
  await Promise.all(many);
  const one = shared.get();
  await Promise.resolve();
  const other = shared.get();
  await asked(open, 3);
  open[2]?.answer(toRevision(5));
  expect(await Promise.all([one, other])).toEqual([toRevision(5), toRevision(5)]);
});

test('a question for many reads of another thread counts as many', async () => {
  const { open, shared } = questions();
  const many = shared.get(10);
  open[0]?.answer(toRevision(1));
  await many;
  const ofThreads = [shared.get(3), shared.get(2)];
  expect(open).toHaveLength(1);
  await asked(open, 2);
  expect(open.map(({ reads }) => reads)).toEqual([10, 5]);
  open[1]?.answer(toRevision(2));
  expect(await Promise.all(ofThreads)).toEqual([toRevision(2), toRevision(2)]);
});

test('a question that fails fails those who shared it, and not later ones', async () => {
  const { open, shared } = questions();
  const first = shared.get();
  const second = shared.get();
  open[0]?.fail(new Error('no connection'));
  await expect(first).rejects.toThrow('no connection');
  await asked(open, 2);
  open[1]?.answer(toRevision(3));
  expect(await second).toBe(toRevision(3));
});
