import { once } from 'node:events';
import { connect } from 'node:net';
import type { Dial } from './dial.ts';

/** Go's bound (net/http, DefaultTransport). */
const DIAL_MS = 30_000;

/** Dials without a proxy. @throws Error */
export const dialDirectly: Dial = async (host, port) => {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(DIAL_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
};
