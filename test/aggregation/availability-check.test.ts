import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { type CheckParts, checkAvailability } from '../../src/aggregation/availability-check.ts';
import type { RemoteVersion } from '../../src/aggregation/managed-api-services.ts';
import { NEVER } from '../../src/util/pause.ts';

const REMOTE: RemoteVersion = {
  ...{ group: 'far.example.com', version: 'v1', server: 'far/api', isAvailable: false },
  service: { namespace: 'far', name: 'api', port: 443 },
} as RemoteVersion;

/** Checks a server that answers with the code for the headers of the request, names in lower case. */
async function check(codeFor: (names: ReadonlySet<string>) => number): Promise<string[]> {
  const parts = {
    resolver: {
      resolve: async () => ({ host: '127.0.0.1', port: 1 }),
      service: async () => ({ spec: { type: 'ExternalName' } }),
    },
    transport: {
      send: async (_: unknown, { headers }: { headers: readonly string[] }) => ({
        code: codeFor(new Set(headers.filter((__, at) => at % 2 === 0).map((name) => name.toLowerCase()))),
        body: Readable.from([]),
      }),
    },
  } as unknown as CheckParts;
  const { status, reason = '' } = await checkAvailability(parts, REMOTE, NEVER);
  return [status, reason];
}

test('a server is available that answers when it is not asked for a form', async () => {
  expect(await check((names) => (names.has('accept') ? 406 : 200))).toEqual(['True', 'Passed']);
  expect(await check((names) => (names.has('x-remote-user') ? 404 : 200))).toEqual([
    'False',
    'FailedDiscoveryCheck',
  ]);
});
