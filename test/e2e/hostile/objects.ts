import { expect, vi } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { fill } from './bodies.ts';
import { dryRun, many, put } from './written-requests.ts';

/** Objects that are written, or refused: lists and maps with as many parts as fit, good ones and bad ones. */
const CORE = '/api/v1/namespaces/default';
const post = (name: string, path: string, body: () => string): HostileRequest => ({
  name,
  method: 'POST',
  path,
  body,
});
const meta = '"metadata":{"generateName":"hostile-"}';

const COUNTED = '/api/v1/namespaces/counted/pods';

/** In a namespace of its own, because other rows would be charged. */
async function makeQuota(cluster: Cluster): Promise<void> {
  await put(cluster, '/api/v1/namespaces', { metadata: { name: 'counted' } });
  await put(cluster, '/api/v1/namespaces/counted/serviceaccounts', { metadata: { name: 'default' } });
  await put(cluster, '/api/v1/namespaces/counted/resourcequotas', {
    metadata: { name: 'q' },
    spec: { hard: { pods: '10', 'requests.a.b/x0': '1' } },
  });
  // From then on it counts.
  await vi.waitFor(async () => {
    const { json } = await cluster.request('GET', '/api/v1/namespaces/counted/resourcequotas/q');
    expect(json.status.hard).toMatchObject({ pods: '10' });
  }, PATIENCE);
}

export const OBJECTS: readonly HostileRequest[] = [
  post(
    'a config map of 200,000 keys',
    `${CORE}/configmaps`,
    () => `{${meta},"data":{${Array.from({ length: 200_000 }, (_, at) => `"k${at}":""`).join(',')}}}`,
  ),
  post(
    'a config map of 20,000 keys',
    `${CORE}/configmaps`,
    () => `{${meta},"data":{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":"value"`).join(',')}}}`,
  ),
  post('a config map of bad keys', `${CORE}/configmaps`, () =>
    fill(`{${meta},"data":{`, (at) => `"!${at}":""`, '}}'),
  ),
  post('a secret of bad keys', `${CORE}/secrets`, () =>
    fill(`{${meta},"data":{`, (at) => `"!${at}":""`, '}}'),
  ),
  post(
    'a quantity of 100,000 digits that is none',
    `${CORE}/resourcequotas`,
    () => `{${meta},"spec":{"hard":{"cpu":"${'1'.repeat(100_000)}x"}}}`,
  ),
  post(
    '150,000 unknown fields',
    `${CORE}/configmaps?fieldValidation=Strict`,
    () => `{${meta},${Array.from({ length: 150_000 }, (_, at) => `"field${at}":1`).join(',')}}`,
  ),
  post('labels', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","labels":{', (at) => `"k${at}":"v"`, '}}}'),
  ),
  post('bad labels', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","labels":{', (at) => `"!${at}":"!"`, '}}}'),
  ),
  post(
    'one bad label of a megabyte',
    `${CORE}/configmaps`,
    () => `{"metadata":{"name":"l","labels":{"a":"${'!'.repeat(1024 * 1024)}"}}}`,
  ),
  post(
    'one label of hyphens',
    `${CORE}/configmaps`,
    () => `{"metadata":{"name":"l","labels":{"a${'-.'.repeat(1024 * 1024)}":"x"}}}`,
  ),
  post('annotations', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","annotations":{', (at) => `"k${at}":"v"`, '}}}'),
  ),
  post('finalizers', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","finalizers":[', (at) => `"a.b/k${at}"`, ']}}'),
  ),
  post('bad finalizers', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","finalizers":[', () => '"!"', ']}}'),
  ),
  post('owner references', `${CORE}/configmaps`, () =>
    fill('{"metadata":{"name":"l","ownerReferences":[', () => '{}', ']}}'),
  ),
  post('managed fields', `${CORE}/configmaps`, () =>
    fill(
      '{"metadata":{"name":"l","managedFields":[',
      (at) =>
        `{"manager":"m${at}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}`,
      ']}}',
    ),
  ),
  post('managed fields of one wide set', `${CORE}/configmaps`, () =>
    fill(
      '{"metadata":{"name":"l","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{',
      (at) => `"f:k${at}":{}`,
      '}}}]}}',
    ),
  ),
  post(
    'a name of a megabyte',
    `${CORE}/configmaps`,
    () => `{"metadata":{"name":"${'a-'.repeat(512 * 1024)}"}}`,
  ),
  post('containers', `${CORE}/pods`, () =>
    fill(`{${meta},"spec":{"containers":[`, (at) => `{"name":"c${at}","image":"i"}`, ']}}'),
  ),
  {
    ...dryRun('containers with a resource each, where a quota counts them', COUNTED, 201, () => ({
      metadata: { generateName: 'hostile-' },
      spec: {
        // About as many as a document may have values for.
        containers: many(3_400, (at) => ({
          ...{ name: `c${at}`, image: 'i' },
          resources: { limits: { [`a.b/x${at}`]: '1' } },
        })),
      },
    })),
    before: makeQuota,
  },
  post('containers with an annotation of AppArmor each', `${CORE}/pods`, () =>
    JSON.stringify({
      metadata: {
        ...{ name: 'annotated', namespace: 'default' },
        annotations: Object.fromEntries(
          many(8_000, (at) => [`container.apparmor.security.beta.kubernetes.io/c${at}`, 'unconfined']),
        ),
      },
      spec: { containers: many(8_000, (at) => ({ name: `c${at}`, image: 'i' })) },
    }),
  ),
  post('containers of one name', `${CORE}/pods`, () =>
    fill(`{${meta},"spec":{"containers":[`, () => '{"name":"c","image":"i"}', ']}}'),
  ),
  post('empty containers', `${CORE}/pods`, () => fill(`{${meta},"spec":{"containers":[`, () => '{}', ']}}')),
  post('environment variables', `${CORE}/pods`, () =>
    fill(
      `{${meta},"spec":{"containers":[{"name":"c","image":"i","env":[`,
      (at) => `{"name":"E${at}"}`,
      ']}]}}',
    ),
  ),
  post('environment variables of one name', `${CORE}/pods`, () =>
    fill(`{${meta},"spec":{"containers":[{"name":"c","image":"i","env":[`, () => '{"name":"E"}', ']}]}}'),
  ),
  post('ports', `${CORE}/pods`, () =>
    fill(
      `{${meta},"spec":{"containers":[{"name":"c","image":"i","ports":[`,
      (at) => `{"containerPort":${(at % 65535) + 1}}`,
      ']}]}}',
    ),
  ),
  post('volumes', `${CORE}/pods`, () =>
    fill(
      `{${meta},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[`,
      (at) => `{"name":"v${at}"}`,
      ']}}',
    ),
  ),
  post('tolerations', `${CORE}/pods`, () =>
    fill(`{${meta},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[`, () => '{}', ']}}'),
  ),
  post('ports of a service', `${CORE}/services`, () =>
    fill(`{${meta},"spec":{"ports":[`, (at) => `{"name":"p${at}","port":${(at % 65535) + 1}}`, ']}}'),
  ),
  post('subsets of endpoints', `${CORE}/endpoints`, () =>
    fill(`{${meta},"subsets":[`, () => '{"addresses":[{"ip":"1.2.3.4"}]}', ']}'),
  ),
  post('rules of a role', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', () =>
    fill(`{${meta},"rules":[`, () => '{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}', ']}'),
  ),
  post('rules of an ingress', '/apis/networking.k8s.io/v1/namespaces/default/ingresses', () =>
    fill(`{${meta},"spec":{"rules":[`, () => '{"host":"a.b"}', ']}}'),
  ),
  post('a schema of many properties', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', () =>
    fill(
      '{"metadata":{"name":"wides.hostile.example.com"},"spec":{"group":"hostile.example.com","scope":"Namespaced","names":{"plural":"wides","singular":"wide","kind":"Wide","listKind":"WideList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{',
      (at) => `"p${at}":{"type":"string"}`,
      '}}}}]}}',
    ),
  ),
  post(
    'a schema nested deep',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    () =>
      `{"metadata":{"name":"deeps.hostile.example.com"},"spec":{"group":"hostile.example.com","scope":"Namespaced","names":{"plural":"deeps","singular":"deep","kind":"Deep","listKind":"DeepList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${'{"type":"object","properties":{"a":'.repeat(240)}{"type":"string"}${'}}'.repeat(240)}}}]}}`,
  ),
];
