import { expect, test } from 'vitest';
import { negotiate } from '../../src/codec/negotiate.ts';

const take = (accept: string) => negotiate(accept, { pretty: false, protobuf: true });

test.each([
  ['application/json;g=meta.k8s.io;v=v1'],
  ['application/json;v=v1'],
  ['application/json;as=Table;g=meta.k8s.io'],
  ['application/json;as=Table;g=k8s.io;v=v1'],
  ['application/json;stream=all'],
  ['application/json;sv=v2'],
])('%s asks for what the server lacks', (accept) => {
  expect(() => take(accept)).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code: 406 }) }),
  );
  expect(take(`${accept},application/yaml`)).toMatchObject({ format: 'yaml', as: 'object' });
});

test('a stream of watches and the version of meta.k8s.io may be said', () => {
  expect(take('application/json;stream=watch;sv=v1')).toMatchObject({ format: 'json', as: 'object' });
});
