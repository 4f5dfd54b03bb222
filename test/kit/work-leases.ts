import type { WorkLease, WorkLeases } from '../../src/storage/work-leases.ts';

/** Leases without a database. While `trouble` is set, everything fails with it. */
export class MemoryWorkLeases implements WorkLeases {
  readonly rows = new Map<string, WorkLease>();
  trouble: Error | undefined;

  async read(work: string): Promise<WorkLease | undefined> {
    this.#check();
    return this.rows.get(work);
  }

  async take(work: string, holder: string, seen: WorkLease | undefined): Promise<boolean> {
    this.#check();
    if (this.rows.get(work)?.renewals !== seen?.renewals) return false;
    this.#put(work, holder);
    return true;
  }

  async renew(work: string, holder: string): Promise<boolean> {
    this.#check();
    if (this.rows.get(work)?.holder !== holder) return false;
    this.#put(work, holder);
    return true;
  }

  async release(work: string, holder: string): Promise<void> {
    this.#check();
    if (this.rows.get(work)?.holder === holder) this.#put(work, '');
  }

  #put(work: string, holder: string): void {
    this.rows.set(work, { holder, renewals: (this.rows.get(work)?.renewals ?? -1n) + 1n });
  }

  #check(): void {
    if (this.trouble !== undefined) throw this.trouble;
  }
}
