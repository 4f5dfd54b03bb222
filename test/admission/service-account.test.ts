import { describe, expect, test } from 'vitest';
import type { ClusterObjects } from '../../src/admission/cluster-objects.ts';
import { createServiceAccounts } from '../../src/admission/plugins/service-account.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';

const PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const ENFORCED = { 'kubernetes.io/enforce-mountable-secrets': 'true' };

const account = (name = 'default', more: JsonObject = {}): JsonObject => ({
  ...more,
  metadata: { name, namespace: 'default', ...(more.metadata as JsonObject) },
});

const pod = (spec: JsonObject = {}, metadata: JsonObject = {}): ApiObject =>
  toObject({ metadata, spec: { containers: [{ name: 'c' }], ...spec } });

const mirror = (spec: JsonObject): ApiObject =>
  toObject({ metadata: { annotations: { 'kubernetes.io/config.mirror': '' } }, spec });

const refused = (object: ApiObject, ...accounts: JsonObject[]): Promise<string | undefined> =>
  refusalOf(
    createServiceAccounts(new FakeCluster({ serviceaccounts: accounts }), { pause: async () => {} }),
    attributesOf('pods', { object }),
  );

/** The spec after admission. */
async function admitted(object: ApiObject, ...accounts: JsonObject[]): Promise<JsonObject> {
  expect(await refused(object, ...accounts)).toBeUndefined();
  return object.spec as JsonObject;
}

const volumesOf = (spec: JsonObject) => (spec.volumes ?? []) as { name: string; projected?: JsonObject }[];
const mountsOf = (spec: JsonObject, list = 'containers') =>
  (spec[list] as { volumeMounts?: JsonObject[] }[]).map(({ volumeMounts }) => volumeMounts);

describe('accounts of pods', () => {
  test('a pod that names no account runs as default, and says so under both names', async () => {
    expect(await admitted(pod(), account())).toMatchObject({
      serviceAccountName: 'default',
      serviceAccount: 'default',
    });
  });

  test('a pod keeps the account that it names', async () => {
    const spec = await admitted(pod({ serviceAccountName: 'robot' }), account('robot'));
    expect(spec).toMatchObject({ serviceAccountName: 'robot', serviceAccount: 'robot' });
  });

  test.each(['default', 'robot'])(
    'a pod whose account %s is not there is refused',
    async (serviceAccountName) => {
      expect(await refused(pod({ serviceAccountName }))).toBe(
        `pods "it" is forbidden: error looking up service account default/${serviceAccountName}: serviceaccount "${serviceAccountName}" not found`,
      );
    },
  );

  test('an account of another namespace does not count', async () => {
    const elsewhere = account('default', { metadata: { namespace: 'other' } });
    expect(await refused(pod(), elsewhere)).toContain('serviceaccount "default" not found');
  });

  test('updates, other resources and other subresources pass unchanged', async () => {
    const plugin = createServiceAccounts(new FakeCluster());
    const object = pod();
    for (const attributes of [
      attributesOf('pods', { operation: 'UPDATE', object, old: pod() }),
      attributesOf('pods', { object, subresource: 'status' }),
      attributesOf('configmaps', { object }),
      attributesOf('pods', { operation: 'DELETE', old: pod() }),
    ])
      expect(await refusalOf(plugin, attributes)).toBeUndefined();
    expect(object).toEqual(pod());
  });
});

describe('accounts that are still being made', () => {
  /** The account becomes known, or can be found, only after some pauses. */
  function lateCluster(after: { known?: number; found?: number }) {
    const full = new FakeCluster({ serviceaccounts: [account()] });
    let pauses = 0;
    let asked = 0;
    const objects: ClusterObjects = {
      follow: (resource) => {
        const followed = full.follow(resource);
        const get = followed.get.bind(followed);
        followed.get = (...key) =>
          pauses >= (after.known ?? Number.POSITIVE_INFINITY) ? get(...key) : undefined;
        return followed;
      },
      find: async (...key) => {
        asked += 1;
        return pauses >= (after.found ?? Number.POSITIVE_INFINITY) ? full.find(...key) : undefined;
      },
    };
    const pause = async (): Promise<void> => {
      pauses += 1;
    };
    return { plugin: createServiceAccounts(objects, { pause }), asked: () => asked };
  }

  test('an account that only the store knows is found', async () => {
    const { plugin, asked } = lateCluster({ found: 0 });
    expect(await refusalOf(plugin, attributesOf('pods', { object: pod() }))).toBeUndefined();
    expect(asked()).toBe(2);
  });

  test('a pod waits for the default account, and goes on as soon as it is known', async () => {
    const { plugin, asked } = lateCluster({ known: 3 });
    expect(await refusalOf(plugin, attributesOf('pods', { object: pod() }))).toBeUndefined();
    expect(asked()).toBe(1);
  });

  test('after ten times there is no default account', async () => {
    const { plugin, asked } = lateCluster({});
    const message = await refusalOf(plugin, attributesOf('pods', { object: pod() }));
    expect(message).toContain('serviceaccount "default" not found');
    expect(asked()).toBe(10);
  });

  test('only a pod with the default account waits for its account', async () => {
    const { plugin, asked } = lateCluster({ known: 1 });
    const object = pod({ serviceAccountName: 'robot' });
    expect(await refusalOf(plugin, attributesOf('pods', { object }))).toContain('"robot" not found');
    expect(asked()).toBe(1);
  });
});

describe('the token', () => {
  test('is projected into every container, with the authority and the namespace', async () => {
    const spec = await admitted(
      pod({ containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] }),
      account(),
    );
    const [volume] = volumesOf(spec);
    expect(volume?.name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(volume?.projected).toEqual({
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    });
    const mount = { name: volume?.name, readOnly: true, mountPath: PATH };
    expect(mountsOf(spec)).toEqual([[mount], [mount]]);
    expect(mountsOf(spec, 'initContainers')).toEqual([[mount]]);
  });

  test('stays out of containers that have something mounted there', async () => {
    const own = [{ name: 'mine', mountPath: PATH }];
    const spec = await admitted(
      pod({ containers: [{ name: 'a', volumeMounts: own }], volumes: [{ name: 'mine' }] }),
      account(),
    );
    expect(volumesOf(spec)).toEqual([{ name: 'mine' }]);
    expect(mountsOf(spec)).toEqual([own]);
  });

  test('is mounted from a volume of that name where the pod brings one', async () => {
    const volume = { name: 'kube-api-access-mine', emptyDir: {} };
    const spec = await admitted(pod({ volumes: [volume] }), account());
    expect(volumesOf(spec)).toEqual([volume]);
    expect(mountsOf(spec)).toEqual([[{ name: 'kube-api-access-mine', readOnly: true, mountPath: PATH }]]);
  });

  test.each([
    [undefined, undefined, true],
    [undefined, false, false],
    [undefined, true, true],
    [false, true, false],
    [true, false, true],
  ])('of a pod that says %s and an account that says %s: mounted: %s', async (ofPod, ofAccount, mounted) => {
    const says = (value: boolean | undefined): JsonObject =>
      value === undefined ? {} : { automountServiceAccountToken: value };
    const spec = await admitted(pod(says(ofPod)), account('default', says(ofAccount)));
    expect(volumesOf(spec).length).toBe(mounted ? 1 : 0);
  });

  test('a pod admitted twice is given it once', async () => {
    const object = pod();
    const once = structuredClone(await admitted(object, account()));
    expect(await admitted(object, account())).toEqual(once);
  });
});

describe('pull secrets', () => {
  const withSecrets = account('default', { imagePullSecrets: [{ name: 'foo' }, { name: 'bar' }] });

  test('of the account go to pods that have none', async () => {
    expect((await admitted(pod(), withSecrets)).imagePullSecrets).toEqual([{ name: 'foo' }, { name: 'bar' }]);
    expect(await admitted(pod(), account())).not.toHaveProperty('imagePullSecrets');
  });

  test('of the pod stay what they are', async () => {
    const imagePullSecrets = [{ name: 'own' }];
    expect((await admitted(pod({ imagePullSecrets }), withSecrets)).imagePullSecrets).toEqual([
      { name: 'own' },
    ]);
  });
});

describe('mirror pods', () => {
  const volume = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });

  test('stay as they are, without any account', async () => {
    expect(await admitted(mirror({ containers: [{ name: 'c' }] }))).toEqual({ containers: [{ name: 'c' }] });
  });

  test.each([
    ['an account', { serviceAccountName: 'default' }, 'reference service accounts'],
    ['a secret', volume({ secret: { secretName: 's' } }), 'reference secrets'],
    ['a pull secret', { imagePullSecrets: [{ name: 's' }] }, 'reference secrets'],
    [
      'a variable from a secret',
      { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's' } } }] }] },
      'reference secrets',
    ],
    [
      'a token',
      volume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
      'use ServiceAccountToken volume projections',
    ],
  ])('may not have %s', async (_, spec, what) => {
    expect(await refused(mirror(spec as JsonObject), account())).toBe(
      `pods "it" is forbidden: a mirror pod may not ${what}`,
    );
  });
});

describe('an account that enforces its list of secrets', () => {
  const strict = (more: JsonObject = {}): JsonObject =>
    account('default', { ...more, metadata: { annotations: ENFORCED } });
  const secret = { secretKeyRef: { name: 'foo' } };
  const uses: [string, JsonObject, string][] = [
    [
      'a volume',
      { volumes: [{ name: 'v', secret: { secretName: 'foo' } }] },
      'volume with secret.secretName="foo"',
    ],
    [
      'a variable',
      { containers: [{ name: 'c', env: [{ name: 'e', valueFrom: secret }] }] },
      'container c with envVar e referencing secret.secretName="foo"',
    ],
    [
      'variables',
      { containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'foo' } }] }] },
      'container c with envFrom referencing secret.secretName="foo"',
    ],
    [
      'a variable of an init container',
      { initContainers: [{ name: 'i', env: [{ name: 'e', valueFrom: secret }] }] },
      'init container i with envVar e referencing secret.secretName="foo"',
    ],
    [
      'variables of an init container',
      { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'foo' } }] }] },
      'init container i with envFrom referencing secret.secretName="foo"',
    ],
  ];
  const why = 'is not allowed because service account default does not reference that secret';

  test.each(uses)('refuses %s from a secret that is not on it', async (_, spec, what) => {
    expect(await refused(pod(spec), strict())).toBe(`pods "it" is forbidden: ${what} ${why}`);
  });

  test.each(uses)('allows %s from a secret that is on it', async (_, spec) => {
    expect(await refused(pod(spec), strict({ secrets: [{ name: 'foo' }] }))).toBeUndefined();
  });

  test.each(uses)('is not obeyed without the annotation: %s', async (_, spec) => {
    const lax = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'yes' } } };
    expect(await refused(pod(spec), account('default', lax))).toBeUndefined();
  });

  test('refuses pull secrets that are not on it', async () => {
    const imagePullSecrets = [{ name: 'listed' }, { name: 'foo' }];
    expect(await refused(pod({ imagePullSecrets }), strict({ imagePullSecrets: [{ name: 'listed' }] }))).toBe(
      'pods "it" is forbidden: imagePullSecrets[1].name="foo" is not allowed because service account default does not reference that imagePullSecret',
    );
  });

  test('looks at ephemeral containers when they are added, and at nothing else then', async () => {
    const attributes = (spec: JsonObject) =>
      attributesOf('pods', {
        operation: 'UPDATE',
        subresource: 'ephemeralcontainers',
        object: pod({ serviceAccountName: 'default', ...spec }),
        old: pod(),
      });
    const plugin = createServiceAccounts(new FakeCluster({ serviceaccounts: [strict()] }));
    const ephemeralContainers = [{ name: 'debug', env: [{ name: 'e', valueFrom: secret }] }];
    expect(await refusalOf(plugin, attributes({ ephemeralContainers }))).toBe(
      `pods "it" is forbidden: ephemeral container debug with envVar e referencing secret.secretName="foo" ${why}`,
    );
    expect(
      await refusalOf(
        plugin,
        attributes({ ephemeralContainers: [{ name: 'd', envFrom: [{ secretRef: { name: 'x' } }] }] }),
      ),
    ).toContain('ephemeral container d with envFrom referencing secret.secretName="x"');
    for (const [, spec] of uses) expect(await refusalOf(plugin, attributes(spec))).toBeUndefined();
    expect(await refusalOf(plugin, attributes({ serviceAccountName: '' }))).toBe(
      'pods "it" is forbidden: no service account specified for pod default/it',
    );
  });
});
