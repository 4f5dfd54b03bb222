import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { ComponentStatuses } from '../../src/diagnostics/component-statuses.ts';
import { probeHealth } from '../../src/outbound/health-probe.ts';
import type { Revision } from '../../src/storage/revision.ts';
import type { Entry } from '../../src/storage/store.ts';
import { Authority } from '../kit/pki.ts';

const asked: string[] = [];
const statuses = (database: 'up' | 'down' = 'up', minor: Minor = 32): ComponentStatuses =>
  new ComponentStatuses(
    {
      list: async () => {
        if (database === 'down') throw new Error('the database is away');
        return { revision: 7n as Revision, entries: [] };
      },
    },
    async ({ href }) => {
      asked.push(href);
      return href.includes(':10259/')
        ? { isHealthy: false, message: 'away' }
        : { isHealthy: true, message: 'ok' };
    },
    minor,
  );

const conditionOf = ({ json }: Entry): unknown => JSON.parse(json.toString()).conditions;
const healthy = [{ type: 'Healthy', status: 'True', message: 'ok' }];

test('the components of a control plane are listed with the health that each gives at its default port', async () => {
  const { revision, entries } = await statuses().list({ scope: {} });
  expect(revision).toBe(7n);
  expect(entries.map((entry) => [entry.name, conditionOf(entry)])).toEqual([
    ['controller-manager', healthy],
    ['etcd-0', healthy],
    ['scheduler', [{ type: 'Healthy', status: 'False', message: 'away' }]],
  ]);
  expect(asked).toEqual(['https://127.0.0.1:10257/healthz', 'https://127.0.0.1:10259/healthz']);
  const named = await statuses().list({ scope: { name: 'etcd-0' } });
  expect(named.entries.map(({ name }) => name)).toEqual(['etcd-0']);
  expect((await statuses().list({ scope: {}, matches: () => false })).entries).toEqual([]);
});

test('one is read by its name, and storage without its database is unhealthy', async () => {
  expect(conditionOf(await statuses('down').get({ name: 'etcd-0' }))).toEqual([
    { type: 'Healthy', status: 'False', message: 'the database is away' },
  ]);
  expect(conditionOf(await statuses('down').get({ name: 'controller-manager' }))).toEqual(healthy);
  await expect(statuses().get({ name: 'none' })).rejects.toThrow('Component not found: none');
  await expect(statuses('up', 33).get({ name: 'none' })).rejects.toThrow('componentstatus "none" not found');
});

test('a server is asked without a look at its certificate', async () => {
  const authority = await Authority.create('CN=unknown');
  const { cert, key } = await authority.issue({ subject: 'CN=scheduler', serves: true });
  let answer = (response: ServerResponse): unknown => response.writeHead(200).end('ok');
  const server = createServer({ cert, key }, (_request, response) => void answer(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(`https://127.0.0.1:${port}/healthz`);
  expect(await probeHealth(url, 5000)).toEqual({ isHealthy: true, message: 'ok' });
  answer = (response) => response.writeHead(500).end('no');
  expect(await probeHealth(url, 5000)).toEqual({
    isHealthy: false,
    message: 'HTTP probe failed with statuscode: 500',
  });
  answer = () => {};
  expect((await probeHealth(url, 50)).message).toBe(`Get "${url}": context deadline exceeded`);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  expect((await probeHealth(url, 5000)).message).toBe(
    `Get "${url}": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  );
});
