import { expect, test } from 'vitest';
import { ServiceResolver } from '../../src/aggregation/service-resolver.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { LaggingStore } from '../kit/client.ts';

/** Where the servers behind services are. */

const ADDRESS = { namespace: 'far', name: 'api', port: 443 };

interface Known {
  readonly service?: object;
  readonly subsets?: readonly JsonObject[];
  /** By name of the service that it says it belongs to. */
  readonly slices?: readonly { readonly of: string; readonly ready?: boolean; readonly address: string }[];
}

function createResolver(byEndpoints: boolean, { service, subsets, slices = [] }: Known): ServiceResolver {
  const store = new LaggingStore();
  const metadata = { namespace: 'far', name: 'api' };
  if (service !== undefined)
    store.put('', 'services', {
      ...{ kind: 'Service', apiVersion: 'v1', metadata },
      spec: { clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443 }], ...service },
    });
  if (subsets !== undefined)
    store.put('', 'endpoints', { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: [...subsets] });
  for (const { of, ready, address } of slices)
    store.put('discovery.k8s.io', 'endpointslices', {
      ...{ kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1' },
      metadata: { namespace: 'far', name: `slice-${address}`, labels: { 'kubernetes.io/service-name': of } },
      endpoints: [{ addresses: [address], conditions: ready === undefined ? {} : { ready } }],
      ports: [{ name: 'https', port: 8443 }],
    });
  store.catchUp();
  return new ServiceResolver(store, byEndpoints);
}

const ENDPOINTS = [
  {
    addresses: [{ ip: '10.1.1.1' }],
    notReadyAddresses: [{ ip: '10.1.1.9' }],
    ports: [{ name: 'https', port: 8443 }],
  },
  { addresses: [{ ip: '10.1.1.8' }], ports: [{ name: 'metrics', port: 9090 }] },
];

test.each<[what: string, byEndpoints: boolean, known: Known, place: object]>([
  ['its cluster IP', false, { service: {} }, { host: '10.0.0.1', port: 443 }],
  [
    'the name that it stands for',
    false,
    { service: { type: 'ExternalName', externalName: 'api.example.com' } },
    { host: 'api.example.com', port: 443 },
  ],
  [
    'the ready endpoint that has its port',
    true,
    { service: {}, subsets: ENDPOINTS },
    { host: '10.1.1.1', port: 8443 },
  ],
  [
    'an endpoint of a service that has no address',
    true,
    { service: { clusterIP: 'None' }, subsets: ENDPOINTS },
    { host: '10.1.1.1', port: 8443 },
  ],
  [
    'the ready endpoint of its slices where there are no Endpoints objects',
    true,
    {
      service: {},
      slices: [
        { of: 'other', address: '10.1.1.3' },
        { of: 'api', ready: false, address: '10.1.1.4' },
        { of: 'api', address: '10.1.1.5' },
      ],
    },
    { host: '10.1.1.5', port: 8443 },
  ],
])('a service is reached at %s', async (_, byEndpoints, known, place) => {
  expect(await createResolver(byEndpoints, known).resolve(ADDRESS)).toEqual(place);
});

test.each<[known: Known, byEndpoints: boolean, why: string]>([
  [{}, false, 'service "api" not found'],
  [{ service: { clusterIP: 'None' } }, false, 'cannot route to service with ClusterIP "None"'],
  [{ service: { ports: [] } }, false, 'no service port 443 found for service "api"'],
  [{ service: { ports: [] } }, true, 'no service port 443 found for service "api"'],
  [
    { service: { type: 'ExternalName' }, subsets: ENDPOINTS },
    true,
    'unsupported service type "ExternalName"',
  ],
  [{ service: {} }, true, 'no endpoints available for service "api"'],
  [{ service: {}, subsets: [] }, true, 'no endpoints available for service "api"'],
])('of %j (by endpoints: %s) it is said that there is %s', async (known, byEndpoints, why) => {
  await expect(createResolver(byEndpoints, known).resolve(ADDRESS)).rejects.toThrow(why);
});
