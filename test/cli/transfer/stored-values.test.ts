import { expect, test } from 'vitest';
import { Shapes } from '../../../src/cli/transfer/shapes.ts';
import { SourceKeys, toDecodable } from '../../../src/cli/transfer/stored-values.ts';

test('what API servers keep for themselves in etcd is no object', () => {
  const value = Buffer.from('{"kind":"Endpoints","apiVersion":"v1","metadata":{},"subsets":null}\n');
  const [keys, shapes] = [new SourceKeys(''), new Shapes()];
  for (const name of ['masterleases/10.0.0.1', 'peerserverleases/apiserver-a', 'ranges/serviceips'])
    expect(toDecodable({ key: `/registry/${name}`, value }, keys, shapes), name).toBeUndefined();
  expect(toDecodable({ key: '/registry/services/endpoints/shop/web', value }, keys, shapes)).toMatchObject({
    kind: 'Endpoints',
  });
});
