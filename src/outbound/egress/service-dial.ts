import type { Dial } from './dial.ts';
import { dialDirectly } from './direct-dial.ts';

/** Where a server accepts connections. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Dials the current place of a service, and ignores the host and the port of the URL: only this server can resolve a service,
 * whose endpoints have ports of their own. Absent `dial`: directly. @throws Error when `locate` or `dial` does
 */
export const createServiceDial =
  (locate: () => Promise<Place>, dial: Dial = dialDirectly): Dial =>
  async () => {
    const { host, port } = await locate();
    return dial(host, port);
  };
