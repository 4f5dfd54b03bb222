// @module-tag long
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Two servers on one database, as while gates are being changed: one with a feature, one without. */

let database: TestDatabase;
let withFeatures: Cluster;
let without: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  withFeatures = await startCluster(database.url, [
    '--feature-gates=UserNamespacesSupport=true,ImageVolume=true,DynamicResourceAllocation=true,VolumeAttributesClass=true',
    '--feature-gates=StorageVersionAPI=true,StorageVersionMigrator=true,CoordinatedLeaderElection=true,ClusterTrustBundle=true,MultiCIDRServiceAllocator=true',
    '--runtime-config=internal.apiserver.k8s.io/v1alpha1,storagemigration.k8s.io/v1alpha1,coordination.k8s.io/v1alpha1,certificates.k8s.io/v1alpha1,networking.k8s.io/v1beta1',
    // Of other components, to which the same list is given.
    '--feature-gates=MemoryQoS=true,NFTablesProxyMode=false,SchedulerQueueingHints=true,PodIndexLabel=false',
  ]);
  without = await startCluster(database.url, [
    '--feature-gates=SidecarContainers=false,OpenAPIEnums=false,StorageVersionHash=false,RetryGenerateName=false',
    '--feature-gates=APIServerIdentity=false,ComponentSLIs=false',
    '--runtime-config=certificates.k8s.io/v1alpha1,storagemigration.k8s.io/v1alpha1',
  ]);
});

afterAll(async () => {
  await withFeatures[Symbol.asyncDispose]();
  await without[Symbol.asyncDispose]();
  await database.drop();
});

const PODS = '/api/v1/namespaces/default/pods';
const pod = (name: string): object => ({
  metadata: { name },
  spec: {
    hostUsers: false,
    initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
    containers: [
      { name: 'c', image: 'i', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }] },
    ],
  },
});

test('fields behind gates are kept or dropped as the server at hand has them', async () => {
  const kept = await withFeatures.request('POST', PODS, pod('kept'));
  expect(kept.json.spec.hostUsers).toBe(false);
  expect(kept.json.spec.initContainers[0].restartPolicy).toBe('Always');
  expect(kept.json.spec.containers[0].resizePolicy).toBeUndefined();
  const dropped = await without.request('POST', PODS, pod('dropped'));
  expect(dropped.json.spec.hostUsers).toBeUndefined();
  expect(dropped.json.spec.initContainers[0].restartPolicy).toBeUndefined();
});

test('an object that has such a field keeps it through writes of a server that would drop it', async () => {
  const labelled = await without.request(
    'PATCH',
    `${PODS}/kept`,
    { metadata: { labels: { a: 'b' } } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(labelled.code).toBe(200);
  expect(labelled.json.spec.hostUsers).toBe(false);
  expect(labelled.json.spec.initContainers[0].restartPolicy).toBe('Always');
});

test('without the feature, a review of access drops the selectors', async () => {
  const resourceAttributes = { verb: 'list', resource: 'pods' };
  const { code, json } = await without.request(
    'POST',
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      spec: { resourceAttributes: { ...resourceAttributes, labelSelector: { rawSelector: 'a=b' } } },
    },
  );
  expect(code).toBe(201);
  expect(json.spec).toEqual({ resourceAttributes });
});

test('a pod has a volume of an image, and asks for devices, where the server at hand knows these', async () => {
  const spec = {
    containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'gpu' }] } }],
    resourceClaims: [{ name: 'gpu', resourceClaimName: 'g' }],
    volumes: [{ name: 'v', image: { reference: 'registry.example/data:1' } }],
  };
  const kept = await withFeatures.request('POST', PODS, { metadata: { name: 'devices' }, spec });
  const { containers, resourceClaims, volumes } = kept.json.spec;
  expect(resourceClaims).toEqual(spec.resourceClaims);
  expect(containers[0].resources).toEqual({ claims: [{ name: 'gpu' }] });
  expect(volumes[0].image).toEqual({ reference: 'registry.example/data:1', pullPolicy: 'IfNotPresent' });
  const nameless = { ...spec, volumes: [{ name: 'v', image: {} }] };
  const refused = await withFeatures.request('POST', PODS, { metadata: { name: 'none' }, spec: nameless });
  expect(refused.json.message).toContain('spec.volumes[0].image.reference: Required value');
  const dropped = await without.request('POST', PODS, { metadata: { name: 'plain' }, spec });
  expect(dropped.json.spec.resourceClaims).toBeUndefined();
  expect(dropped.json.spec.volumes.map(({ image }: { image?: object }) => image)).not.toContainEqual(
    expect.anything(),
  );
});

test('the attributes of a bound claim’s volume can be changed, and not be taken away', async () => {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
  const made = await withFeatures.request('POST', claims, {
    metadata: { name: 'fast' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      volumeAttributesClassName: 'silver',
    },
  });
  expect(made.json.spec.volumeAttributesClassName).toBe('silver');
  const merge = { 'content-type': 'application/merge-patch+json' };
  const change = (name: string | null) =>
    withFeatures.request('PATCH', `${claims}/fast`, { spec: { volumeAttributesClassName: name } }, merge);
  expect((await change('gold')).json.message).toContain('spec is immutable after creation');
  await withFeatures.request('PATCH', `${claims}/fast/status`, { status: { phase: 'Bound' } }, merge);
  expect((await change('gold')).json.spec.volumeAttributesClassName).toBe('gold');
  expect((await change('')).json.message).toContain(
    'update from non-nil value to an empty string is forbidden',
  );
  expect((await change(null)).json.message).toContain('update from non-nil value to nil is forbidden');
});

test('documents say of enumerations and stored versions what gates let them', async () => {
  const enums = async (server: Cluster): Promise<boolean> =>
    (await server.request('GET', '/openapi/v3/api/v1')).text.includes(
      '"enum":["Always","IfNotPresent","Never"]',
    );
  expect([await enums(withFeatures), await enums(without)]).toEqual([true, false]);
  const hashes = async (server: Cluster): Promise<boolean> =>
    (await server.request('GET', '/api/v1')).text.includes('storageVersionHash');
  expect([await hashes(withFeatures), await hashes(without)]).toEqual([true, false]);
});

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const IDENTITY = 'labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver';

test('a server with an identity has a lease and says what it stores, and one without has none', async () => {
  const found = await without.request('GET', `${LEASES}?${IDENTITY}`);
  expect(found.json.items).toHaveLength(1);
  const [{ metadata, spec }] = found.json.items;
  expect(metadata.name).toMatch(/^apiserver-[a-z2-7]{26}$/);
  expect(spec.holderIdentity.startsWith(`${metadata.name}_`)).toBe(true);
  const versions = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
  const { json } = await withFeatures.request('GET', `${versions}/core.pods`);
  expect(json.status).toMatchObject({
    commonEncodingVersion: 'v1',
    storageVersions: [{ apiServerID: metadata.name, encodingVersion: 'v1', servedVersions: ['v1'] }],
    conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True' }],
  });
  expect((await without.request('GET', versions)).code).toBe(404);
});

test('a migration that is asked for is done, and a lease that is wanted is given to who is there', async () => {
  const migrations = '/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations';
  const asked = await withFeatures.request('POST', migrations, {
    metadata: { name: 'maps' },
    spec: { resource: { group: '', version: 'v1', resource: 'configmaps' } },
  });
  expect(asked.code).toBe(201);
  // Its version is asked for, but not its gate.
  expect((await without.request('GET', migrations)).code).toBe(404);
  const candidates = '/apis/coordination.k8s.io/v1alpha1/namespaces/default/leasecandidates';
  const wanted = await withFeatures.request('POST', candidates, {
    metadata: { name: 'me' },
    spec: {
      leaseName: 'work',
      emulationVersion: '1.31.0',
      binaryVersion: '1.31.0',
      preferredStrategies: ['OldestEmulationVersion'],
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    },
  });
  expect(wanted.code).toBe(201);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/work';
  const given = await vi.waitFor(async () => {
    const { json } = await withFeatures.request('GET', lease);
    expect(json.spec?.holderIdentity).toBe('me');
    return json;
  }, PATIENCE);
  expect(given.spec.strategy).toBe('OldestEmulationVersion');
  const done = await vi.waitFor(async () => {
    const { json } = await withFeatures.request('GET', `${migrations}/maps`);
    expect(json.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Succeeded', status: 'True' }),
    );
    return json;
  }, PATIENCE);
  expect(done.status.resourceVersion).toBe(asked.json.metadata.resourceVersion);
});

test('what a gate serves is served with it, and not found without', async () => {
  for (const path of ['/metrics/slis', '/apis/certificates.k8s.io/v1alpha1/clustertrustbundles']) {
    expect((await withFeatures.request('GET', path)).code, path).toBe(200);
    expect((await without.request('GET', path)).code, path).toBe(404);
  }
});

test('services get addresses of a range that is added, and keep it from being taken away', async () => {
  const cidrs = '/apis/networking.k8s.io/v1beta1/servicecidrs';
  const services = '/api/v1/namespaces/default/services';
  const added = await withFeatures.request('POST', cidrs, {
    metadata: { name: 'more' },
    spec: { cidrs: ['172.31.0.0/24'] },
  });
  expect(added.code, added.text).toBe(201);
  await vi.waitFor(async () => {
    const { json } = await withFeatures.request('GET', `${cidrs}/more`);
    expect(json.status.conditions).toMatchObject([{ type: 'Ready', status: 'True' }]);
  }, PATIENCE);
  const service = { metadata: { name: 'far' }, spec: { clusterIP: '172.31.0.7', ports: [{ port: 80 }] } };
  expect((await without.request('POST', services, service)).json.message).toContain('not in the valid range');
  const made = await withFeatures.request('POST', services, service);
  expect(made.code, made.text).toBe(201);
  const record = '/apis/networking.k8s.io/v1beta1/ipaddresses/172.31.0.7';
  await vi.waitFor(async () => {
    const { json } = await withFeatures.request('GET', record);
    expect(json.spec?.parentRef).toMatchObject({ namespace: 'default', name: 'far' });
  }, PATIENCE);
  await withFeatures.request('DELETE', `${cidrs}/more`);
  await vi.waitFor(async () => {
    const { json } = await withFeatures.request('GET', `${cidrs}/more`);
    expect(json.status.conditions).toMatchObject([{ status: 'False', reason: 'Terminating' }]);
  }, PATIENCE);
  await withFeatures.request('DELETE', `${services}/far`);
  await vi.waitFor(async () => {
    expect((await withFeatures.request('GET', `${cidrs}/more`)).code).toBe(404);
  }, PATIENCE);
});
