import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpServer, listen } from '../../src/http/http-server.ts';
import { ServingTls } from '../../src/http/serving-tls.ts';
import type { Logger } from '../../src/observability/logger.ts';
import { Authority } from '../kit/pki.ts';

let folder: string;
let server: HttpServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-listener-'));
  const pair = await (await Authority.create('test')).issue({ subject: 'CN=localhost', serves: true });
  const [certFile, keyFile] = [join(folder, 'crt'), join(folder, 'key')];
  writeFileSync(certFile, pair.cert);
  writeFileSync(keyFile, pair.key);
  const tls = new ServingTls({
    serving: { certFile, keyFile },
    ...{ sni: [], clientCaFiles: [], settings: { minVersion: 'TLSv1.2', ciphers: undefined } },
    ...{ onReload: () => {}, onError: () => {} },
  });
  server = await listen({
    ...{ tls, host: '127.0.0.1', port: 0, sharesPort: false, bytesPerSecond: 0, requestTimeoutMs: 60_000 },
    http2: { disabled: true, maxStreams: 0, goawayChance: 0, closesUnauthenticated: false },
    policy: { strictTransportSecurity: '', allowedOrigins: [] },
    ...{ compresses: false, onHandshakeError: () => {} },
    logger: { error: () => {} } as unknown as Logger,
    pipeline: async () => ({
      kind: 'bytes',
      code: 200,
      contentType: 'text/plain',
      chunks: [Buffer.from('here')],
      compressible: false,
    }),
  });
});

afterAll(() => rmSync(folder, { recursive: true }));

test('a listener that leaves takes no connection any more, answers those it has, and ends with them', async () => {
  const { port } = server;
  const kept = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  await once(kept, 'secureConnect');
  const answer = async (): Promise<string> => {
    kept.write('GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [bytes] = await once(kept, 'data');
    return String(bytes);
  };
  expect(await answer()).toContain('here');
  // While the connection stays.
  await server.leave();
  await expect(once(dial({ host: '127.0.0.1', port }), 'connect')).rejects.toThrow('ECONNREFUSED');
  expect(await answer()).toContain('here');
  const ended = once(kept, 'close');
  await server.drain({ sendRetryAfter: false, watchGraceMs: 0, requestGraceMs: 1000 });
  await ended;
});
