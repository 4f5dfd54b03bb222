import { type DatabaseProxy, endTogether, startDatabaseProxy } from './database-proxy.ts';

/** How a connection is refused: hung up, or answered as PostgreSQL answers. */
export type Refusal = 'hang up' | { readonly code: string; readonly message: string };

export interface RefusingProxy extends DatabaseProxy {
  /** How many connections have been refused. */
  readonly refused: number;
}

/** Stands before a database and refuses the first connections, each in its way; later ones reach it. */
export async function startRefusingProxy(
  databaseUrl: string,
  refusals: readonly Refusal[],
): Promise<RefusingProxy> {
  const left = [...refusals];
  let refused = 0;
  const proxy = await startDatabaseProxy(databaseUrl, (near, reach) => {
    const refusal = left.shift();
    if (refusal === undefined) {
      const far = reach();
      endTogether(near, far);
      near.pipe(far).pipe(near);
      return;
    }
    refused += 1;
    if (refusal === 'hang up') near.destroy();
    else near.once('data', () => near.end(errorResponse(refusal)));
  });
  return {
    ...proxy,
    get refused() {
      return refused;
    },
  };
}

/** PostgreSQL documentation, 53.7: ErrorResponse. */
function errorResponse({ code, message }: Exclude<Refusal, 'hang up'>): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
