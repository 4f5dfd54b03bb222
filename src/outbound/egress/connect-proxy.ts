import { once } from 'node:events';
import { connect as connectPlainly, type Socket } from 'node:net';
import { connect as connectSecurely, type TLSSocket } from 'node:tls';
import { errorText } from '../../util/error-text.ts';
import type { ProxyAddress } from './egress-config.ts';

/** Connections through an HTTP proxy, by its method CONNECT (RFC 9110, section 9.3.6). */

/** Go's http.DefaultMaxHeaderBytes. */
const MAX_HEAD_BYTES = 1024 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** @throws Error */
export async function connectToProxy(proxy: ProxyAddress, signal: AbortSignal): Promise<Socket> {
  const { socket, connected } = begin(proxy);
  try {
    await once(socket, connected, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function begin(proxy: ProxyAddress): { socket: Socket | TLSSocket; connected: string } {
  if (proxy.kind === 'uds')
    return { socket: connectPlainly({ path: proxy.socketPath }), connected: 'connect' };
  const { host, port, tls } = proxy;
  if (tls === undefined) return { socket: connectPlainly({ host, port }), connected: 'connect' };
  const { ca, cert, key, serverName } = tls;
  const socket = connectSecurely({
    ...{ host, port, cert, key },
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === '' ? {} : { servername: serverName }),
  });
  return { socket, connected: 'secureConnect' };
}

interface ProxyRequest {
  /** The proxy's address, for errors. */
  readonly proxy: string;
  /** `host:port` */
  readonly address: string;
}

/** Requests a connection from a proxy, and returns the same socket. @throws Error in Kubernetes' words */
export async function requestConnection(
  socket: Socket,
  { proxy, address }: ProxyRequest,
  signal: AbortSignal,
): Promise<Socket> {
  try {
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const { head, more } = await readHead(socket, signal).catch((error: unknown) => {
      const why = errorText(error);
      throw new Error(`reading HTTP response from CONNECT to ${address} via proxy ${proxy} failed: ${why}`, {
        cause: error,
      });
    });
    const [, code = '', status = ''] = /^HTTP\/1\.[01] ((\d{3})[^\r\n]*)/.exec(head) ?? [];
    if (status !== '200')
      throw new Error(`proxy error from ${proxy} while dialing ${address}, code ${Number(status)}: ${code}`);
    // Servers wait for the client's first byte, so early data is a mistake of the proxy.
    if (more > 0) throw new Error(`unexpected ${more} bytes of buffered data from CONNECT proxy "${proxy}"`);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function readHead(socket: Socket, signal: AbortSignal): Promise<{ head: string; more: number }> {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) {
      await readable(socket, signal);
      continue;
    }
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf(HEAD_END);
    if (end >= 0) {
      const after = end + HEAD_END.length;
      return { head: bytes.subarray(0, end).toString('latin1'), more: bytes.length - after };
    }
    if (bytes.length > MAX_HEAD_BYTES) throw new Error('the answer has too long a head');
  }
}

/** @throws Error when the connection ends instead */
async function readable(socket: Socket, signal: AbortSignal): Promise<void> {
  if (socket.readableEnded || socket.destroyed) throw new Error('unexpected EOF');
  const settled = new AbortController();
  const either = AbortSignal.any([signal, settled.signal]);
  try {
    const ended = ['end', 'close'].map((name) =>
      once(socket, name, { signal: either }).then(() => {
        throw new Error('unexpected EOF');
      }),
    );
    await Promise.race([once(socket, 'readable', { signal: either }), ...ended]);
  } finally {
    settled.abort();
  }
}
