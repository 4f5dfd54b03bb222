import type { GroupResource } from '../../../api/names.ts';
import { pause } from '../../../util/pause.ts';
import type { KeySealer } from '../../key-sealer.ts';
import { type Revision, toRevision } from '../../revision.ts';
import { type ConnectionOptions, connectWritable } from '../connection/connection.ts';
import type { Queryable } from '../connection/prepared.ts';
import { openTargetUrls, sealedName } from '../shared/moves.ts';
import { Copy, type CopyProgress } from './copy.ts';

/** For so long writes may be refused at a time. Servers repeat them for longer than that. */
const CLOSED_MS = 8000;
const MOST_CUTS = 20;
const LOOK_MS = 300;
const FORGET_OBJECTS = 500;
const BETWEEN_MS = 10;
/** Servers that have seen the cut-over open the database within that, or say why not. */
const MOVED_MS = 60_000;

/** Says what to do with a resource that has moved. The rows of two logs cannot be brought into one order, so that none moves back. */
export const describeMoved = (resource: string, urls: readonly string[]): string =>
  `${resource} was moved to ${urls.join(',')}, and a resource moves once: for another PostgreSQL, copy that database and name it in --kvstore-servers-overrides; for one database again, import the cluster into an empty one (pg-apiserver import --from=KUBECONFIG --follow)`;

/** What to move, and where. */
interface MoveWish {
  readonly resource: GroupResource;
  readonly source: ConnectionOptions;
  /** An empty database that knows all migrations. */
  readonly target: ConnectionOptions;
  readonly sealer: KeySealer;
  readonly progress: CopyProgress;
  say(line: string): void;
  readonly signal: AbortSignal;
}

/** A move, as its row says. */
interface MoveRow {
  readonly move: string;
  readonly target: string;
  readonly moved_at: string | null;
}

/**
 * Moves a resource into a database of its own while servers serve, with its history. It may be cut off anywhere and called again.
 *
 * Both databases keep the revisions of the resource: its rows are copied as they are, so that what clients know stays true, and watches
 * go on. All servers must agree about the moment of the cut-over, and the order of the log is what they agree about: the cut-over is a
 * write (of an object of MOVES), and a server changes its route in the turn in which its cache applies that revision.
 *
 * 1. `begin_move` notes the move, and tells servers. Each opens the new database and reports that it can use it (move_servers).
 * 2. All objects, superseded states and rows of the log are copied on one snapshot; then what is written meanwhile, again and again.
 * 3. When every server that lives (a witness of the log) has reported, `close_for_move` makes commits refuse writes of the resource, in
 *    the database itself and for some seconds only: a caller that dies then delays writes, and stops none. Servers keep the refused
 *    writes, and repeat them.
 * 4. The last rows are copied, and the live objects of both sides compared. `cut_over` then ends the move, in one transaction, unless
 *    the time was up or the log has a newer row of the resource: then it goes back to 2.
 * 5. `arrive` gives the new log a row with the revision of the cut-over, and lets its sequence begin there: a list from there is no
 *    older than one from before, and what is written there is newer than anything clients know. Each server calls it before it uses
 *    the database, so it needs nothing from this process.
 * 6. When all servers have changed their routes, the objects are removed from the database that they have left.
 *
 * A consistent read: a server asks for the newest revision, waits until its cache has applied it, and looks at the route again before
 * it answers. A read that began after the cut-over therefore never has its answer from the old database, also on a server that
 * lags. A write there is refused for good.
 *
 * Why servers do not stop writing by themselves, each after a message: one that hangs for a minute would write afterwards. Why the new
 * database does not begin an epoch: that would end all watches with 410, and hide the history that was copied.
 * @throws Error with a message of one line
 */
export async function moveResource(wish: MoveWish): Promise<void> {
  const from = await connectWritable(wish.source, 'move');
  const to = await connectWritable(wish.target, 'move').catch(async (error: unknown) => {
    await from.close();
    throw error;
  });
  try {
    await new ResourceMove(wish, from.client, to.client).run();
  } finally {
    await from.close();
    await to.close();
  }
}

class ResourceMove {
  readonly #wish: MoveWish;
  readonly #from: Queryable;
  readonly #to: Queryable;

  constructor(wish: MoveWish, from: Queryable, to: Queryable) {
    this.#wish = wish;
    this.#from = from;
    this.#to = to;
  }

  async run(): Promise<void> {
    const { say, resource } = this.#wish;
    await this.#assertOwn();
    const { move, moved_at: before } = await this.#begin();
    if (before === null) {
      const copy = new Copy({ ...this.#wish, move, from: this.#from, to: this.#to });
      await copy.bringUpToDate();
      await this.#untilServersAre(move, {
        does: 'can use the new database',
        is: ({ trouble }) => trouble === '',
      });
      await this.#cutOver(move, copy);
    }
    const cut = before === null ? await this.#movedAt(move) : toRevision(before);
    await this.#query(this.#to, 'SELECT arrive($1, $2)', [move, String(cut)]);
    say(`${resource.resource}: served from its own database since revision ${cut}`);
    await this.#untilServersAre(move, {
      does: 'has changed over',
      is: ({ moved }) => moved === 't',
      forMs: MOVED_MS,
    });
    await this.#forget(move);
  }

  /** Before anything is noted. @throws Error when the target has anything that no move has brought */
  async #assertOwn(): Promise<void> {
    const text = `
      SELECT EXISTS (SELECT FROM revisions) AND NOT EXISTS (SELECT FROM arrival) AS taken,
        (SELECT resource FROM arrival) AS arrived`;
    const [row] = await this.#query<{ taken: string; arrived: string | null }>(this.#to, text, []);
    const { resource } = this.#wish.resource;
    const isOther = row?.arrived !== null && row?.arrived !== resource;
    if (row?.taken !== 't' && !isOther) return;
    throw new Error(
      `the database named has ${isOther ? `${row?.arrived} of a move` : 'objects'} already: ${resource} needs an empty one of its own`,
    );
  }

  /** @throws Error when the resource is on its way to another database */
  async #begin(): Promise<MoveRow> {
    const { resource, sealer, target } = this.#wish;
    const urls = target.urls.join(',');
    const sealed = await sealer.seal(sealedName(resource.resource), urls);
    const text = 'SELECT move, target, moved_at FROM begin_move($1, $2, $3)';
    const [row] = await this.#query<MoveRow>(this.#from, text, [resource.group, resource.resource, sealed]);
    if (row === undefined) throw new Error('begin_move gave no answer');
    const before = await openTargetUrls({ resource: resource.resource, target: row.target }, sealer);
    if (before.join(',') === urls) return row;
    throw new Error(
      row.moved_at === null
        ? `${resource.resource} is being moved to ${before.join(',')}: name that again, or give it up with --cancel`
        : describeMoved(resource.resource, before),
    );
  }

  async #cutOver(move: string, copy: Copy): Promise<void> {
    const { say } = this.#wish;
    for (let tries = 1; tries <= MOST_CUTS; tries += 1) {
      this.#assertWanted();
      await copy.follow();
      const closed = 'SELECT close_for_move($1, $2) AS newest';
      const sinceMs = performance.now();
      await this.#query(this.#from, closed, [move, CLOSED_MS]);
      await copy.follow();
      await copy.assertEqual();
      const [row] = await this.#query<{ cut: string | null }>(this.#from, 'SELECT cut_over($1) AS cut', [
        move,
      ]);
      if (row?.cut != null) {
        say(
          `writes of ${this.#wish.resource.resource} waited for ${Math.ceil(performance.now() - sinceMs)} ms at most`,
        );
        return;
      }
      say('the last rows took too long to copy: once more');
    }
    throw new Error('writes come faster than they can be copied: move it at a quieter time');
  }

  async #movedAt(move: string): Promise<Revision> {
    const text = 'SELECT moved_at FROM moves WHERE move = $1';
    const [row] = await this.#query<MoveRow>(this.#from, text, [move]);
    if (row?.moved_at == null) throw new Error('the move was given up meanwhile');
    return toRevision(row.moved_at);
  }

  /** Waits for all servers that live. */
  async #untilServersAre(move: string, { does, is, forMs }: ServerWish): Promise<void> {
    const sinceMs = performance.now();
    for (let said = ''; ; ) {
      this.#assertWanted();
      const servers = await this.#query<ServerRow>(this.#from, 'SELECT * FROM servers_of_move($1)', [move]);
      const missing = servers.filter((one) => !is(one));
      if (missing.length === 0) return;
      const waitedMs = performance.now() - sinceMs;
      const reasons = missing.map(describe).join('; ');
      if (reasons !== said && waitedMs > SILENT_MS) {
        said = reasons;
        this.#wish.say(`waits until each server ${does}: ${reasons}`);
      }
      if (forMs !== undefined && waitedMs > forMs)
        throw new Error(`not all servers have changed over (${reasons}): see their logs, and run this again`);
      await pause(LOOK_MS, this.#wish.signal);
    }
  }

  async #forget(move: string): Promise<void> {
    const { progress, say } = this.#wish;
    progress.begin('removed from the database before');
    for (let all = 0; ; ) {
      this.#assertWanted();
      const text = 'SELECT forget_moved($1, $2) AS count';
      const [row] = await this.#query<{ count: string }>(this.#from, text, [move, FORGET_OBJECTS]);
      const count = Number(row?.count ?? 0);
      all += count;
      progress.add(count);
      if (count > 0) {
        // Commits have waited.
        await pause(BETWEEN_MS, this.#wish.signal);
        continue;
      }
      if (all > 0)
        say(`${all} objects are removed from the database before; their history there goes with the window`);
      return;
    }
  }

  #assertWanted(): void {
    if (this.#wish.signal.aborted)
      throw new Error('stopped before the move was over: the same command goes on from here');
  }

  async #query<Row extends object>(client: Queryable, text: string, values: unknown[]): Promise<Row[]> {
    return (await client.query<Row>({ text, values })).rows;
  }
}

/** Servers need a moment to report. */
const SILENT_MS = 3000;

interface ServerRow {
  readonly server: string;
  readonly trouble: string | null;
  readonly moved: string;
}

interface ServerWish {
  /** `has changed over` */
  readonly does: string;
  readonly is: (server: ServerRow) => boolean;
  readonly forMs?: number;
}

const describe = ({ server, trouble }: ServerRow): string => {
  const said = trouble ?? 'it has not answered: a server of an earlier version cannot, and must be ended';
  return `${server.slice(0, 8)}: ${said === '' ? 'not yet' : said}`;
};

/** Gives up a move before its cut-over. Returns whether there was one. @throws what PostgreSQL says */
export async function cancelMove(source: ConnectionOptions, resource: GroupResource): Promise<boolean> {
  const { client, close } = await connectWritable(source, 'move');
  try {
    const text = 'SELECT cancel_move(m.move) AS done FROM moves m WHERE m.api_group = $1 AND m.resource = $2';
    const { rows } = await client.query<{ done: string }>({
      text,
      values: [resource.group, resource.resource],
    });
    return rows[0]?.done === 't';
  } finally {
    await close();
  }
}
