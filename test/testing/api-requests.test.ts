import { once } from 'node:events';
import { constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Api } from '../../src/testing/api-requests.ts';

test('requests go on after the server has sent the client to another connection', async () => {
  const server = createServer();
  let connections = 0;
  server.on('session', () => {
    connections += 1;
  });
  server.on('stream', (stream) => {
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
    stream.respond({ ':status': 200 });
    stream.end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  using api = new Api({ url: `http://127.0.0.1:${port}`, ca: '', certificate: '', key: '' });
  for (let n = 0; n < 3; n += 1) expect(await api.send('GET', '/version')).toEqual({ code: 200, body: {} });
  expect(connections).toBe(3);
  server.close();
});
