import { workerData } from 'node:worker_threads';
import { SeatCounters } from '../../src/flow-control/queueing/seats.ts';

/** A thread that takes seats of one level and gives them back, as often as it can. */
interface Taking {
  readonly memory: SharedArrayBuffer;
  /** Seats that are held by all threads, and the most that were. */
  readonly held: SharedArrayBuffer;
  readonly row: number;
  readonly rounds: number;
}

const { memory, held, row, rounds } = workerData as Taking;
const counters = new SeatCounters(memory, row);
counters.know(new Map([['it', 0]]));
const level = counters.open('it');
const cells = new Int32Array(held);
for (let round = 0; round < rounds; round += 1) {
  const seats = 1 + (round % 2);
  if (!level.take(seats)) continue;
  const now = Atomics.add(cells, 0, seats) + seats;
  if (now > Atomics.load(cells, 1)) Atomics.store(cells, 1, now);
  Atomics.sub(cells, 0, seats);
  level.finished();
  level.giveBack(seats);
}
