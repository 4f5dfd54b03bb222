import { expect, test } from 'vitest';
import { parseRequestInfo } from '../../src/pipeline/request-info.ts';

const parse = (method: string, url: string) => {
  const { pathname, searchParams } = new URL(url, 'https://host');
  const { verb, target, dialect } = parseRequestInfo(method, pathname, searchParams);
  if (target === undefined) return verb;
  const { group, version, resource, namespace, name, subresource } = target;
  return [verb, `${group}/${version}`, namespace, `${resource}/${name}`, subresource, dialect]
    .join(' ')
    .trim();
};

test.each([
  ['GET', '/api/v1/pods', 'list /v1  pods/  k8s.io'],
  ['GET', '/api/v1/namespaces/ns/pods/p', 'get /v1 ns pods/p  k8s.io'],
  ['GET', '/api/v1/namespaces/ns/pods/p/log', 'get /v1 ns pods/p log k8s.io'],
  ['GET', '/api/v1/namespaces/ns', 'get /v1 ns namespaces/ns  k8s.io'],
  ['PUT', '/api/v1/namespaces/ns/finalize', 'update /v1 ns namespaces/ns finalize k8s.io'],
  ['GET', '/api/v1/pods?watch=1', 'watch /v1  pods/  k8s.io'],
  ['GET', '/api/v1/pods?watch=false', 'list /v1  pods/  k8s.io'],
  ['GET', '/api/v1/watch/namespaces/ns/pods', 'watch /v1 ns pods/  k8s.io'],
  ['GET', '/api/v1/namespaces/ns/pods/p?watch=1', 'watch /v1 ns pods/p  k8s.io'],
  ['GET', '/api/v1/secrets?fieldSelector=metadata.name=s', 'list /v1  secrets/s  k8s.io'],
  ['DELETE', '/apis/apps/v1/namespaces/ns/deployments', 'deletecollection apps/v1 ns deployments/  k8s.io'],
  [
    'POST',
    '/apis/storage.cluster.io/v1/storageclasses',
    'create storage.k8s.io/v1  storageclasses/  cluster.io',
  ],
  ['PATCH', '/apis/mine.cluster.io/v1/things/t', 'patch mine.cluster.io/v1  things/t  k8s.io'],
  ['GET', '/version', 'get'],
  ['POST', '/apis/apps/v1', 'post'],
])('%s %s is %s', (method, url, expected) => {
  expect(parse(method, url)).toBe(expected);
});
