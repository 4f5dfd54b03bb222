import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dial } from './dial.ts';

/** The target of a connection for Node's agents, and the callback that gets it. */
export interface Wanted {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
  readonly defaultPort?: number | string | undefined;
  readonly lookup?: LookupFunction | undefined;
}

export type Connected = (error: Error | null, stream: Duplex) => void;

/** Callers ignore the stream when there is an error. */
const NOTHING = undefined as unknown as Duplex;

/** Dials, and passes on the result of `join`. */
export function reach(
  wanted: Wanted,
  dial: Dial,
  { join, connected }: { join(stream: Duplex): Duplex; connected: Connected | undefined },
): null {
  open(wanted, dial)
    .then(join)
    .then(
      (stream) => connected?.(null, stream),
      (error: Error) => connected?.(error, NOTHING),
    );
  return null;
}

/** A host that only this server can resolve, a service, is resolved here; any other at the end of the way. */
async function open({ host, port, defaultPort, lookup }: Wanted, dial: Dial): Promise<Duplex> {
  const name = host ?? 'localhost';
  const isOurs = lookup !== undefined && isIP(name) === 0;
  return dial(isOurs ? await resolveBy(lookup, name) : name, Number(port ?? defaultPort));
}

function resolveBy(lookup: LookupFunction, host: string): Promise<string> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: false }, (error, address) => {
      if (error === null) resolve(String(address));
      else reject(error);
    }),
  );
}
