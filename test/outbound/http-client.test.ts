import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, test } from 'vitest';
import { networkText } from '../../src/outbound/http-client.ts';

const ASKED = { host: 'localhost', authority: 'localhost:1' };

/** The error of a handshake with the server, which then ends. */
async function refusalBy(server: Server): Promise<NodeJS.ErrnoException> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const asking = request({ host: '127.0.0.1', port, agent: false });
  const [error] = (await once(asking.end(), 'error').catch((failure: unknown) => [failure])) as [Error];
  await new Promise((resolve) => server.close(resolve));
  return error;
}

test.each<[string, () => Server, string]>([
  ['has no certificate yet', () => createTlsServer({}), 'remote error: tls: handshake failure'],
  ['speaks no TLS', createHttpServer, 'http: server gave HTTP response to HTTPS client'],
])('a handshake with a server that %s fails in the words of Go', async (_, serve, text) => {
  expect(networkText(await refusalBy(serve()), ASKED)).toBe(text);
});

const OPENSSL = '40DD61D7C67F0000:error:0A000438:SSL routines';
test.each([
  [
    `write EPROTO ${OPENSSL}:ssl3_read_bytes:tlsv1 alert internal error:rec_layer_s3.c:918:SSL alert number 80\n`,
    'remote error: tls: internal error',
  ],
  [
    `${OPENSSL}:ssl3_read_bytes:alert:rec_layer_s3.c:918:SSL alert number 250\n`,
    'remote error: tls: alert(250)',
  ],
  [
    `${OPENSSL}:tls_setup_handshake:no protocols available:statem_lib.c:155:\n`,
    'tls: no protocols available',
  ],
  ['Parse Error: Invalid header', 'Parse Error: Invalid header'],
])('%j becomes %s', (message, text) => {
  expect(networkText({ name: 'Error', code: 'EPROTO', message }, ASKED)).toBe(text);
});
