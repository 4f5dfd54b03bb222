import type pg from 'pg';

/** What a host says of itself; null where it does not. */
export interface HostSight {
  readonly isStandby: boolean;
  /** PostgreSQL's identifier: the same at a primary and its standbys. */
  readonly system: string | null;
  /** Eight hexadecimal digits; null for a standby. */
  readonly timeline: string | null;
}

const LOOK = `
  SELECT pg_is_in_recovery() AS standby, (SELECT system_identifier FROM pg_control_system()) AS system,
    CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

/** Returns what a host is, with nulls where a service withholds it. @throws what the network says */
export async function lookAt(client: pg.ClientBase): Promise<HostSight> {
  try {
    const { rows } = await client.query<Record<string, string | null>>(LOOK);
    const { standby, system = null, timeline = null } = rows[0] ?? {};
    return { isStandby: standby === 't', system, timeline };
  } catch (error) {
    if (!isWithheld(error)) throw error;
    return { isStandby: false, system: null, timeline: null };
  }
}

/** feature_not_supported, insufficient_privilege, object_not_in_prerequisite_state: a promotion is under way. */
const isWithheld = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(0A000|42501|55000)$/.test(String(error.code));

/**
 * Hosts knows of the hosts of one database which worked last, and which must not be used any more. A promotion begins a timeline; a
 * host that takes writes on an earlier one than another was not fenced, and what it shows and takes is lost.
 */
export class Hosts {
  readonly #survey: () => Promise<void>;
  readonly #sights = new Map<string, HostSight>();
  readonly #fenced = new Set<string>();
  readonly #listeners = new Set<(url: string) => void>();
  #surveyed: Promise<void> | undefined;
  #last: string | undefined;
  #newest: HostSight | undefined;

  /** `survey` looks at all hosts, before the first connection. */
  constructor(survey: () => Promise<void> = async () => {}) {
    this.#survey = survey;
  }

  surveyed(): Promise<void> {
    this.#surveyed ??= this.#survey();
    return this.#surveyed;
  }

  order(urls: readonly string[]): readonly string[] {
    const last = this.#last;
    const able = urls.filter((url) => !this.#fenced.has(url));
    const ordered =
      last === undefined || !able.includes(last) ? able : [last, ...able.filter((url) => url !== last)];
    // Fenced hosts come last: each may have changed since it was seen, and says so when asked.
    return [...ordered, ...urls.filter((url) => this.#fenced.has(url))];
  }

  worked(url: string): void {
    this.#last = url;
  }

  isFenced(url: string): boolean {
    return this.#fenced.has(url);
  }

  /** Calls `listener` for each host fenced from then on. Returns how to end that. */
  onFenced(listener: (url: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  saw(url: string, sight: HostSight): void {
    this.#sights.set(url, sight);
    if (isPrimary(sight) && (this.#newest === undefined || isBefore(this.#newest, sight)))
      this.#newest = sight;
    this.#judge();
  }

  /**
   * Judges a look at all hosts. A timeline that none of them is on any more was given up, if all have answered: otherwise the
   * silent one may be on it.
   */
  sawAll(sights: readonly (HostSight | undefined)[]): void {
    const answered = sights.filter((sight) => sight !== undefined);
    const primaries = answered.filter(isPrimary);
    const [first] = primaries;
    if (first === undefined || answered.length < sights.length) return;
    this.#newest = primaries.reduce((one, other) => (isBefore(one, other) ? other : one), first);
    this.#judge();
  }

  #judge(): void {
    const newest = this.#newest;
    if (newest === undefined) return;
    for (const [url, sight] of this.#sights) {
      if (!isPrimary(sight) || !isBefore(sight, newest)) this.#fenced.delete(url);
      else if (!this.#fenced.has(url)) {
        this.#fenced.add(url);
        for (const listener of this.#listeners) listener(url);
      }
    }
  }
}

const isPrimary = ({ isStandby, timeline }: HostSight): boolean => !isStandby && timeline !== null;

/** Compares hosts of one system; others are unrelated. */
const isBefore = (one: HostSight, other: HostSight): boolean =>
  one.system === other.system && (one.timeline ?? '') < (other.timeline ?? '');
