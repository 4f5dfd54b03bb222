/** What a queue has to know of a request. Times are virtual, work is in seat-seconds. */
export interface QueueItem {
  readonly virtualArrival: number;
  readonly totalWork: number;
}

/** One queue of a level: who waits in the order of arrival, and who of it runs. */
export class FlowQueue<Item extends QueueItem> {
  readonly index: number;
  /** In the order of arrival. A set, so that whoever gives up leaves without a search. */
  readonly waiting = new Set<Item>();
  readonly executing = new Set<Item>();
  /** The virtual time at which the queue's next request would start if all queues got their even share. */
  nextStart = 0;
  /** Includes seats that are kept for a while after their request. */
  seatsInUse = 0;
  /** Sum of what waits, in seat-seconds. */
  waitingWork = 0;

  constructor(index: number) {
    this.index = index;
  }

  get isActive(): boolean {
    return this.waiting.size > 0 || this.executing.size > 0;
  }

  get isEmpty(): boolean {
    return !this.isActive && this.seatsInUse === 0;
  }

  get oldest(): Item | undefined {
    for (const item of this.waiting) return item;
    return undefined;
  }

  enqueue(item: Item): void {
    this.waiting.add(item);
    this.waitingWork += item.totalWork;
  }

  /** False when it was not waiting any more. */
  dequeue(item: Item): boolean {
    if (!this.waiting.delete(item)) return false;
    this.waitingWork = this.waiting.size === 0 ? 0 : this.waitingWork - item.totalWork;
    return true;
  }

  /**
   * Nobody starts before they arrived: without this, a queue that ran ahead while it was nearly empty could later claim
   * the time it did not use.
   */
  boundNextStart(): void {
    const oldest = this.oldest;
    if (oldest !== undefined && this.nextStart < oldest.virtualArrival)
      this.nextStart = oldest.virtualArrival;
  }
}
