import type { GroupResource } from '../../../api/names.ts';
import type { KeySealer } from '../../key-sealer.ts';
import type { Arrival, MoveReport, Moves } from '../../moves.ts';
import type { Revision } from '../../revision.ts';
import type { DatabaseSource } from '../connection/connection.ts';
import type { Queryable } from '../connection/prepared.ts';

interface TargetRow {
  readonly move: string;
  readonly resource: string;
  readonly target: string;
}

/** Binds the sealed URLs of a move to its resource. */
export const sealedName = (resource: string): string => `moves/${resource}`;

/** Reads moves for running servers. */
export class PostgresMoves implements Moves {
  readonly #database: DatabaseSource;
  readonly #sealer: KeySealer;
  readonly #server: () => string | undefined;

  /** `server`: how the witnesses of the log know this server; undefined before they do. */
  constructor(database: DatabaseSource, sealer: KeySealer, server: () => string | undefined) {
    this.#database = database;
    this.#sealer = sealer;
    this.#server = server;
  }

  async targetOf(move: string): Promise<readonly string[] | undefined> {
    const { pool } = await this.#database();
    const text = 'SELECT move, resource, target FROM moves WHERE move = $1';
    const [row] = (await pool.query<TargetRow>({ text, values: [move] })).rows;
    return row === undefined ? undefined : openTargetUrls(row, this.#sealer);
  }

  async report(move: string, { trouble, isMoved }: MoveReport): Promise<boolean> {
    const server = this.#server();
    if (server === undefined) return false;
    const { pool } = await this.#database();
    const text = 'SELECT report_move($1, $2, $3, $4)';
    await pool.query({ text, values: [move, server, trouble.replaceAll('\0', ''), isMoved] });
    return true;
  }

  async arrival(): Promise<Arrival | undefined> {
    const { pool } = await this.#database();
    const [row] = (await pool.query<ArrivalRow>({ text: ARRIVAL })).rows;
    if (row === undefined) return undefined;
    const { move, attempt, copied, complete } = row;
    return { move, attempt: Number(attempt), isCopied: copied === 't', isComplete: complete === 't' };
  }

  async arrive(move: string, cut: Revision): Promise<number> {
    const { pool } = await this.#database();
    const query = { text: 'SELECT arrive($1, $2) AS attempt', values: [move, String(cut)] };
    return Number((await pool.query<{ attempt: string }>(query)).rows[0]?.attempt);
  }
}

interface ArrivalRow {
  readonly move: string;
  readonly attempt: string;
  readonly copied: string;
  readonly complete: string;
}

const ARRIVAL = `
  SELECT move, attempt, copied_to IS NOT NULL AS copied, arrived_at IS NOT NULL AS complete FROM arrival`;

/** A resource that has moved, and the hosts of its database. */
export interface MovedResource {
  readonly resource: GroupResource;
  readonly urls: readonly string[];
}

/** Returns the resources that have moved, for commands. */
export async function listMoved(client: Queryable, sealer: KeySealer): Promise<MovedResource[]> {
  const known = await client.query<{ known: string }>({
    text: "SELECT to_regclass('moves') IS NOT NULL AS known",
  });
  if (known.rows[0]?.known !== 't') return [];
  const text =
    'SELECT move, api_group, resource, target FROM moves WHERE moved_at IS NOT NULL ORDER BY began_at';
  const { rows } = await client.query<TargetRow & { readonly api_group: string }>({ text });
  return Promise.all(
    rows.map(async (row) => ({
      resource: { group: row.api_group, resource: row.resource },
      urls: await openTargetUrls(row, sealer),
    })),
  );
}

export const openTargetUrls = async (
  { resource, target }: Pick<TargetRow, 'resource' | 'target'>,
  sealer: KeySealer,
): Promise<readonly string[]> => (await sealer.open(sealedName(resource), target)).split(',');
