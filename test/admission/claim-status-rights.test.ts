import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import { guardClaimStatus } from '../../src/admission/claim-status-rights.ts';
import type { Right } from '../../src/admission/plugin.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { accessBy } from '../../src/server/access.ts';
import { attributesOf, refusalOf, toObject } from '../kit/admission.ts';

const device = (driver: string, more: JsonObject = {}): JsonObject => ({
  ...{ driver, pool: 'p', device: 'd' },
  ...more,
});
const onNode = (name: string): JsonObject => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
});
const given = { allocation: { devices: { results: [] }, nodeSelector: onNode('n') } };
const reported = { ...given, devices: [device('a.example.com')] };

const rightOf = ({ verb, resource, subresource, namespace = '', name = '' }: Right): string =>
  [verb, `${resource}/${subresource}`, namespace, name].join(' ');

/** What a change of the status by a user with these rights answers, and the rights that it asks for. */
async function change(
  rights: readonly string[],
  [before, after]: readonly [JsonObject, JsonObject],
  more: Partial<AdmissionAttributes> = {},
): Promise<{ refusal: string | undefined; asked: readonly string[] }> {
  const asked: string[] = [];
  const access = accessBy({
    rules: () => ({ resourceRules: [], nonResourceRules: [] }),
    authorize: async ({ verb, target }) => {
      const right = target === undefined ? verb : rightOf({ verb, ...target });
      asked.push(right);
      return rights.includes(right)
        ? { decision: 'allow', reason: '' }
        : { decision: 'deny', reason: 'no rule' };
    },
  });
  const write = attributesOf('resource.k8s.io/resourceclaims', {
    ...{ operation: 'UPDATE', subresource: 'status', verb: 'patch' },
    old: toObject({ status: before }),
    object: toObject({ status: after }),
    ...more,
  });
  return { refusal: await refusalOf(guardClaimStatus(access), write), asked };
}

const BINDING = 'patch resourceclaims/binding  ';

test.each<[JsonObject, JsonObject, string[]]>([
  [{}, given, [BINDING]],
  [given, {}, [BINDING]],
  [given, { ...given, reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] }, [BINDING]],
  [given, { ...given, reservedFor: [] }, []],
  [given, reported, ['arbitrary-node:patch resourceclaims/driver default a.example.com']],
  [reported, given, ['arbitrary-node:patch resourceclaims/driver default a.example.com']],
  [
    reported,
    { ...given, devices: [device('b.example.com'), device('a.example.com', { data: { x: 1 } })] },
    [
      'arbitrary-node:patch resourceclaims/driver default a.example.com',
      'arbitrary-node:patch resourceclaims/driver default b.example.com',
    ],
  ],
  [reported, reported, []],
  [reported, {}, [BINDING]],
])('from %j to %j', async (before, after, rights) => {
  expect(await change(rights, [before, after])).toEqual({ refusal: undefined, asked: rights });
  if (rights.length > 0) {
    const { refusal } = await change(rights.slice(1), [before, after]);
    expect(refusal).toContain(
      rights[0] === BINDING ? 'status.allocation: Forbidden' : 'status.devices: Forbidden',
    );
    expect(refusal).toContain('no rule');
  }
});

test('a service account on the node of the devices may report with the right to that node, or to any', async () => {
  const userOn = (node: string, username = 'system:serviceaccount:default:driver') => ({
    user: { username, uid: '', groups: [], extra: { 'authentication.kubernetes.io/node-name': [node] } },
  });
  const there = 'associated-node:patch resourceclaims/driver default a.example.com';
  const anywhere = 'arbitrary-node:patch resourceclaims/driver default a.example.com';
  const report = [given, reported] as const;
  expect(await change([there], report, userOn('n'))).toEqual({ refusal: undefined, asked: [there] });
  expect(await change([anywhere], report, userOn('n'))).toEqual({
    refusal: undefined,
    asked: [there, anywhere],
  });
  expect((await change([there], report, userOn('other'))).asked).toEqual([anywhere]);
  expect((await change([], report, userOn('n'))).refusal).toMatch(
    /status.devices: Forbidden: changing status.devices requires resource="resourceclaims\/driver", verb="\[associated-node:patch arbitrary-node:patch\]" permission: resourceclaims.resource.k8s.io "a.example.com" is forbidden: User "system:serviceaccount:default:driver" cannot associated-node:patch resource "resourceclaims\/driver" in API group "resource.k8s.io" in the namespace "default": no rule$/,
  );
  expect((await change([there], report, userOn('n', 'jane'))).asked).toEqual([anywhere]);
  const elsewhere = { allocation: { devices: { results: [] } } };
  const { asked } = await change([], [elsewhere, { ...reported, ...elsewhere }], userOn('n'));
  expect(asked).toEqual([anywhere]);
});

test('the claim itself is written without them', async () => {
  expect((await change([], [{}, given], { subresource: '' })).asked).toEqual([]);
});
