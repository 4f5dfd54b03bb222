import { expect, test } from 'vitest';
import { configureKubeadm } from '../../src/cli/kubeadm/kubeadm-config.ts';
import { readKubeadmFlags } from '../../src/cli/kubeadm/kubeadm-flags.ts';
import { dnsAddress, kubeadmObjects } from '../../src/cli/kubeadm/kubeadm-objects.ts';

const read = (...flags: string[]) => readKubeadmFlags(flags, {});

test('the kubeconfig is the one of the flag, of the environment, or of the server’s folder', () => {
  expect(readKubeadmFlags(['--kubeconfig=a'], { KUBECONFIG: 'b' }).kubeconfig).toBe('a');
  expect(readKubeadmFlags([], { KUBECONFIG: 'b' }).kubeconfig).toBe('b');
  expect(read('--data-dir=/c').kubeconfig).toBe('/c/admin.kubeconfig');
});

test.each([
  ['api.example.com:6443', 'api.example.com:6443'],
  ['api.example.com', 'api.example.com:6443'],
  ['192.0.2.1:443', '192.0.2.1:443'],
  ['[2001:db8::1]:7443', '[2001:db8::1]:7443'],
])('nodes reach %s at %s', (given, endpoint) => {
  expect(read(`--control-plane-endpoint=${given}`).endpoint).toBe(endpoint);
});

test.each([
  ['--control-plane-endpoint=https://a:6443', 'is not a host and a port such as api.example.com:6443'],
  ['--control-plane-endpoint=a:6443/path', 'is not a host and a port'],
  ['--control-plane-endpoint=me@a:6443', 'is not a host and a port'],
  ['--control-plane-endpoint=a:66666', 'is not a host and a port'],
  ['--token=ABCDEF.0123456789abcdef', '--token: a token has 6 letters or digits'],
  ['--token-ttl=-1h', '--token-ttl'],
  ['--pod-network-cidr=10.244.0.0', '--pod-network-cidr: "10.244.0.0" is not a CIDR such as 10.244.0.0/16'],
  ['--service-cluster-ip-range=10.0.0.0/30', '--service-cluster-ip-range: "10.0.0.0/30" is too small'],
  ['--tokens=a', 'unknown flag --tokens: did you mean --token?'],
])('%s is refused: %s', (flag, why) => {
  expect(() => read(flag)).toThrow(why);
});

test('a wrong token is not repeated, because it may be a secret with a mistake in it', () => {
  expect(() => read('--token=abcdef.0123456789abcde')).toThrow(/^(?!.*0123456789abcde\b(?!f))/);
});

test('each run has a token of its own', () => {
  const [first, second] = [read().token, read().token];
  expect(first).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  expect(first).not.toBe(second);
});

test.each([
  ['10.96.0.0/12', '10.96.0.10'],
  ['10.0.0.0/24', '10.0.0.10'],
  ['fd00::/108,10.0.0.0/24', 'fd00::a'],
])('the DNS of %s is at %s', (ranges, address) => {
  expect(dnsAddress(ranges)).toBe(address);
});

test('tokens without an end have no expiry, others one in whole seconds', () => {
  const cluster = {
    endpoint: 'a:6443',
    ca: '',
    clusterIpRanges: '10.0.0.0/24',
    podNetwork: '',
    dnsDomain: 'd',
    version: 'v1.31.0',
  };
  const secretOf = (expiresAt: Date | undefined) =>
    kubeadmObjects(cluster, { token: 'abcdef.0123456789abcdef', expiresAt }, { kubeProxy: false }).find(
      ({ kind }) => kind === 'Secret',
    );
  const encoded = Buffer.from('2026-02-02T00:00:00Z').toString('base64');
  expect(secretOf(new Date('2026-02-02T00:00:00.789Z'))).toMatchObject({ data: { expiration: encoded } });
  expect(secretOf(undefined)).not.toHaveProperty('data.expiration');
});

test('without a kubeconfig it says what to do', async () => {
  await expect(configureKubeadm(['--kubeconfig=/nowhere'])).rejects.toThrow(
    'there is no /nowhere: start a server first, or name a kubeconfig with --kubeconfig=',
  );
});
