import { expect, test } from 'vitest';
import type { ResourceOf } from '../../src/api/names.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import type { Node, Pod, PodLogOptions } from '../../src/api/types/core/v1.ts';
import { problemsOf } from '../../src/object/field-path.ts';
import type { ConnectCall } from '../../src/registry/resource-definition.ts';
import { isGlobalUnicast } from '../../src/resources/connect/loopback.ts';
import {
  podAttach,
  podExec,
  podLog,
  podPortForward,
  validateLogOptions,
} from '../../src/resources/connect/pod-streams.ts';
import { nodeProxy, parseTargetName } from '../../src/resources/connect/proxies.ts';

test.each([
  ['a', { scheme: 'http', name: 'a', port: '' }],
  ['a:80', { scheme: 'http', name: 'a', port: '80' }],
  ['https:a:', { scheme: 'https', name: 'a', port: '' }],
  ['https:a:web', { scheme: 'https', name: 'a', port: 'web' }],
])('%s names a target', (text, expected) => {
  expect(parseTargetName(text, 'service')).toEqual(expected);
});

test.each(['', ':80', 'ftp:a:80', 'https:a:80:b', 'http::80'])('%j names none', (text) => {
  expect(() => parseTargetName(text, 'service')).toThrow(`invalid service request ${JSON.stringify(text)}`);
});

test.each([
  ['10.0.0.1', true],
  ['fd00::1', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['169.254.169.254', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['name', false],
  ['', false],
])('%s may be reached through a proxy: %s', (address, expected) => {
  expect(isGlobalUnicast(address)).toBe(expected);
});

const NODE: Node = {
  ...{ kind: 'Node', apiVersion: 'v1' },
  metadata: { name: 'node' },
  status: { addresses: [{ type: 'Hostname', address: 'node.example' }] },
};
const POD: Pod = {
  ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'one' } },
  spec: { nodeName: 'node', containers: [{ name: 'main' }] },
};

/** A call for a node, or for a pod on it, whose name leads to another address each time. */
function callOf(name: string, answers: readonly string[][], resolvesAfar = false): ConnectCall {
  const left = [...answers];
  const get = async (resource: ResourceOf<ApiObject>): Promise<ApiObject> =>
    resource.resource === 'nodes' ? NODE : POD;
  const resolve = async (): Promise<readonly string[]> => {
    const addresses = left.shift();
    if (addresses === undefined) throw new Error('asked again');
    return addresses;
  };
  const call = { namespace: 'a', name, options: {}, subpath: '/', agentAddressTypes: ['Hostname'] };
  return { ...call, get, find: get, resolve, resolvesAfar } as unknown as ConnectCall;
}

const WAYS = { nodeProxy, podLog, podExec, podAttach, podPortForward } as const;

test.each(Object.entries(WAYS))(
  'the addresses that %s has checked are those that are dialled',
  async (_, way) => {
    const name = way === nodeProxy ? 'node' : 'one';
    const call = callOf(name, [['10.1.1.1', 'fd00::1'], ['169.254.169.254']]);
    expect(await way.locate(call)).toMatchObject({
      host: 'node.example',
      addresses: ['10.1.1.1', 'fd00::1'],
    });
    for (const address of ['169.254.169.254', '0.0.0.0', 'fe80::1', '224.0.0.1'])
      await expect(way.locate(callOf(name, [['10.1.1.1', address]]))).rejects.toThrow('address not allowed');
  },
);

test('agents are found at loopback addresses for streams and not for proxies, and where their names are known', async () => {
  expect(await podLog.locate(callOf('one', [['127.0.0.1']]))).toMatchObject({ addresses: ['127.0.0.1'] });
  await expect(nodeProxy.locate(callOf('node', [['127.0.0.1']]))).rejects.toThrow('address not allowed');
  expect((await podLog.locate(callOf('one', [])))?.addresses).toEqual([]);
  expect((await podLog.locate(callOf('one', [['10.1.1.1']], true)))?.addresses).toBeUndefined();
});

const logProblems = (options: PodLogOptions): string[] =>
  problemsOf((at) => validateLogOptions(at, options)).map(({ field, message }) => `${field}: ${message}`);

test('options of a log that are in range have no errors', () => {
  expect(logProblems({ tailLines: 0, limitBytes: 1, sinceSeconds: 1, follow: true })).toEqual([]);
});

test('options of a log that are out of range are refused, however large they are', () => {
  expect(logProblems({ tailLines: -1, limitBytes: 0, sinceSeconds: 0 })).toEqual([
    'tailLines: Invalid value: -1: must be greater than or equal to 0',
    'limitBytes: Invalid value: 0: must be greater than 0',
    'sinceSeconds: Invalid value: 0: must be greater than 0',
  ]);
  expect(logProblems({ tailLines: -(2n ** 62n) })).toEqual([
    'tailLines: Invalid value: -4611686018427387904: must be greater than or equal to 0',
  ]);
  expect(logProblems({ sinceSeconds: 1, sinceTime: '2024-01-01T00:00:00Z' })).toEqual([
    '[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  ]);
});
