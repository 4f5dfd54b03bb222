import type { GroupResource } from '../../../api/names.ts';
import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type { Queryable } from '../connection/prepared.ts';

/** Shows how far a copy is. */
export interface CopyProgress {
  begin(label: string, more?: number): void;
  add(count: number): void;
}

interface CopyParts {
  readonly resource: GroupResource;
  readonly move: string;
  readonly from: Queryable;
  readonly to: Queryable;
  readonly progress: CopyProgress;
  say(line: string): void;
  readonly signal: AbortSignal;
}

/** Bytes of a page, of which both databases make values. */
const PAGE_BYTES = 4 * 1024 * 1024;
const MOST_ROWS = 2000;
const LEAST_ROWS = 5;

/** A row as JSON, in which PostgreSQL puts the bytes of an object as they are. */
interface CopiedRow {
  readonly row: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: string;
}

interface Snapshot {
  readonly low: string;
  readonly newest: string;
  readonly compaction: string;
  readonly rows: string;
}

/**
 * Copy brings a resource from one database to another, row by row as JSON. First on one snapshot: on several, a deletion could leave
 * the log in between (shorter histories), and its object would stay. Then it follows the log: the order of revisions is that of commits,
 * so that nothing can come below what was read.
 */
export class Copy {
  readonly #parts: CopyParts;
  #position: Revision = NO_REVISION;
  /** Rows to read at a time: as many as make a page. */
  #limit = 200;

  constructor(parts: CopyParts) {
    this.#parts = parts;
  }

  /** Goes on with the copy that is there, or begins anew where that lacks what the log has lost since. */
  async bringUpToDate(): Promise<void> {
    const { say, resource } = this.#parts;
    const position = await this.#findPosition();
    if (position === undefined) await this.#copySnapshot();
    else {
      this.#position = position;
      say(`${resource.resource}: goes on after revision ${position}`);
    }
    await this.follow();
  }

  /** Copies what was written since, until less than a page is left to read. */
  async follow(): Promise<void> {
    this.#parts.progress.begin('followed');
    while (!this.#parts.signal.aborted) {
      const limit = this.#limit;
      const rows = await this.#read(REVISIONS, [String(this.#position)]);
      await this.#takeRevisions(rows);
      if (rows.length < limit) return;
    }
  }

  /** @throws Error when the live objects of the two databases differ */
  async assertEqual(): Promise<void> {
    const { from, to, resource } = this.#parts;
    const query = { text: 'SELECT digest_of($1, $2) AS digest', values: [resource.group, resource.resource] };
    const [source, target] = await Promise.all(
      [from, to].map(async (one) => (await one.query<{ digest: string }>(query)).rows[0]?.digest),
    );
    if (source !== target)
      throw new Error(
        `the copy has ${target}, and the database before ${source}: give the move up with --cancel, and begin with another empty database`,
      );
  }

  /** Undefined: there is no copy that can be followed. */
  async #findPosition(): Promise<Revision | undefined> {
    const { from, to, move, resource } = this.#parts;
    const arrived = `
      SELECT greatest(copied_to, (SELECT max(revision) FROM revisions)) AS position
      FROM arrival WHERE move = $1 AND copied_to IS NOT NULL`;
    const [row] = (await to.query<{ position: string }>({ text: arrived, values: [move] })).rows;
    if (row === undefined) return undefined;
    const kept = `
      SELECT $3::bigint >= greatest(compacted_revision($1, $2), (SELECT low FROM log_bounds)) AS kept`;
    const values = [resource.group, resource.resource, row.position];
    const [is] = (await from.query<{ kept: string }>({ text: kept, values })).rows;
    return is?.kept === 't' ? toRevision(row.position) : undefined;
  }

  async #copySnapshot(): Promise<void> {
    const { from, to, move, resource, progress, say } = this.#parts;
    // By the usual name of a server it would not count as a reader of the partitions, which may be dropped then.
    await from.query({ text: "SET application_name = 'pg-apiserver-move'" });
    await from.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    try {
      const values = [resource.group, resource.resource];
      const [snapshot] = (await from.query<Snapshot>({ text: SNAPSHOT, values })).rows;
      if (snapshot === undefined) throw new Error('the database has no log');
      const { low, newest, compaction, rows } = snapshot;
      progress.begin(resource.resource, Number(rows));
      await to.query({
        text: 'SELECT begin_arrival($1, $2, $3, $4, $5, $6)',
        values: [move, ...values, compaction, low, newest],
      });
      await this.#takeAll('take_objects', OBJECTS, [low], (last) => [low, last.namespace, last.name]);
      await this.#takeAll('take_superseded', SUPERSEDED, ['0'], (last) => [last.revision]);
      this.#position = toRevision(BigInt(low) - 1n);
      for (;;) {
        this.#assertWanted();
        const page = await this.#read(REVISIONS, [String(this.#position)]);
        if (page.length === 0) break;
        await this.#takeRevisions(page);
      }
      if (this.#position < toRevision(newest)) this.#position = toRevision(newest);
      await to.query({ text: 'SELECT note_copied($1, $2)', values: [move, newest] });
      say(`${resource.resource}: ${rows} rows of objects and history are copied`);
    } finally {
      await from.query({ text: 'ROLLBACK' }).catch(() => {});
    }
  }

  async #takeAll(
    take: 'take_objects' | 'take_superseded',
    select: string,
    first: readonly string[],
    after: (last: CopiedRow) => readonly string[],
  ): Promise<void> {
    const start = select === OBJECTS ? [...first, '', ''] : first;
    for (let values = start; ; ) {
      this.#assertWanted();
      const rows = await this.#read(select, values);
      const last = rows.at(-1);
      if (last === undefined) return;
      await this.#take(take, rows);
      values = after(last);
    }
  }

  async #takeRevisions(rows: readonly CopiedRow[]): Promise<void> {
    const last = rows.at(-1);
    if (last === undefined) return;
    await this.#take('take_revisions', rows, [last.revision]);
    this.#position = toRevision(last.revision);
  }

  async #take(into: string, rows: readonly CopiedRow[], more: readonly string[] = []): Promise<void> {
    const { to, move, progress } = this.#parts;
    const text = `SELECT ${into}($1, $2${more.map((_, at) => `, $${at + 3}`).join('')})`;
    await to.query({ text, values: [move, `[${rows.map(({ row }) => row).join(',')}]`, ...more] });
    progress.add(rows.length);
  }

  async #read(select: string, values: readonly string[]): Promise<CopiedRow[]> {
    const { from, resource } = this.#parts;
    const all = [resource.group, resource.resource, this.#limit, ...values];
    const { rows } = await from.query<CopiedRow>({ text: select, values: all });
    const sizeBytes = rows.reduce((sum, { row }) => sum + row.length, 0);
    if (rows.length > 0) {
      const fitting = Math.floor((PAGE_BYTES * rows.length) / sizeBytes);
      this.#limit = Math.min(Math.max(fitting, LEAST_ROWS), MOST_ROWS);
    }
    return rows;
  }

  #assertWanted(): void {
    if (this.#parts.signal.aborted)
      throw new Error('stopped before all was copied: the same command begins the copy anew');
  }
}

const SNAPSHOT = `
  SELECT b.low, greatest((SELECT max(revision) FROM revisions), (SELECT max(epoch) FROM epochs)) AS newest,
    row_to_json(c)::text AS compaction,
    (SELECT count(*) FROM revisions WHERE api_group = $1 AND resource = $2)
      + (SELECT count(*) FROM objects WHERE api_group = $1 AND resource = $2 AND revision < b.low)
      + (SELECT count(*) FROM superseded WHERE api_group = $1 AND resource = $2) AS rows
  FROM log_bounds b, compaction c`;

/** Objects whose rows the log no longer has. */
const OBJECTS = `
  SELECT row_to_json(o)::text AS row, o.namespace, o.name, o.revision
  FROM objects o
  WHERE o.api_group = $1 AND o.resource = $2 AND o.revision < $4 AND (o.namespace, o.name) > ($5, $6)
  ORDER BY o.namespace, o.name
  LIMIT $3`;

const SUPERSEDED = `
  SELECT row_to_json(s)::text AS row, s.namespace, s.name, s.revision
  FROM superseded s
  WHERE s.api_group = $1 AND s.resource = $2 AND s.revision > $4
  ORDER BY s.revision
  LIMIT $3`;

const REVISIONS = 'SELECT * FROM revisions_to_move($1, $2, $4, $3)';
