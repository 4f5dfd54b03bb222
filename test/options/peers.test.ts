import { expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';

const GATE = '--feature-gates=UnknownVersionInteroperabilityProxy=true';

test('servers hand requests to each other only with the gate, and then the flags say where and how they are trusted', () => {
  expect(parseOptions([]).serving.peers).toBeUndefined();
  const flags = ['--peer-advertise-ip=10.0.0.1', '--peer-advertise-port=7443', '--peer-ca-file=/ca.crt'];
  expect(parseOptions([GATE, ...flags]).serving.peers).toEqual({
    ...{ advertiseIp: '10.0.0.1', advertisePort: '7443', caFile: '/ca.crt' },
  });
  for (const flag of flags)
    expect(() => parseOptions([flag])).toThrow(
      `${flag.split('=')[0]}: requires the feature gate UnknownVersionInteroperabilityProxy to be turned on`,
    );
  expect(() => parseOptions([GATE, '--peer-advertise-port=70000'])).toThrow('--peer-advertise-port: "70000"');
  expect(() => parseOptions([GATE, '--peer-advertise-ip=host'])).toThrow('--peer-advertise-ip: "host"');
});
