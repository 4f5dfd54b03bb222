import type { Revision } from '../revision.ts';

/**
 * The newest committed revision, asked of PostgreSQL once for all reads that wait at the same moment. A read that arrives
 * while a query is under way must not use its answer, which may be from before the read began: it joins the next one.
 */
export class SharedCurrentRevision {
  readonly #query: () => Promise<Revision>;
  #running: Promise<Revision> | undefined;
  #next: Promise<Revision> | undefined;

  constructor(query: () => Promise<Revision>) {
    this.#query = query;
  }

  get(): Promise<Revision> {
    if (this.#next !== undefined) return this.#next;
    if (this.#running === undefined) return this.#start();
    this.#next = this.#running.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  #start(): Promise<Revision> {
    this.#next = undefined;
    const running = this.#query().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
