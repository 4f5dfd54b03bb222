import { expect, test } from 'vitest';
import { ALL_FLAGS, SECTIONS } from '../../src/options/all-flags.ts';
import { UsageError } from '../../src/options/flag.ts';
import { formatHelp } from '../../src/options/help.ts';
import { parseOptions } from '../../src/options/options.ts';
import { parseDuration } from '../../src/util/duration.ts';

test('flags are read in each form', () => {
  expect(parseOptions(['--secure-port=7443']).serving.securePort).toBe(7443);
  expect(parseOptions(['--secure-port', '7443']).serving.securePort).toBe(7443);
  expect(parseOptions(['--anonymous-auth=false']).authentication.anonymousAuth).toBe(false);
  expect(parseOptions(['-v=4']).observability.log.verbosity).toBe(4);
  expect(
    parseOptions(['--kvstore-servers=postgres://a', '--kvstore-servers=postgres://b']).storage.databaseUrls,
  ).toEqual(['postgres://a', 'postgres://b']);
  expect(parseOptions(['--event-ttl=90m']).storage.eventTtlMs).toBe(5_400_000);
});

test.each([
  ['1h30m', 5_400_000],
  ['500ms', 500],
  ['0', 0],
  ['30d', 2_592_000_000],
  ['1.5h', 5_400_000],
  ['5', undefined],
  ['5x', undefined],
  ['', undefined],
])('the duration %j is %s ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  [['--secure-prot=1'], 'did you mean --secure-port?'],
  [['--etcd-servers=x'], 'the flag is --kvstore-servers'],
  [['--secure-port=abc'], '--secure-port: "abc" is not a whole number'],
  [['--secure-port=65536'], 'between 1 and 65535, or 0 for any free port'],
  [['--warm-start', '--kvstore-servers=postgres://a'], 'leave it or --kvstore-servers out'],
  [['--event-ttl=soon'], '"soon" is not a duration'],
  [['--audit-log-mode=sometimes'], '"sometimes" must be one of batch, blocking, blocking-strict'],
  [['--kubelet-client-key=x'], '--agent-client-certificate and --agent-client-key belong together'],
  [['--proxy-client-cert-file=x'], '--proxy-client-cert-file and --proxy-client-key-file belong together'],
  [['--kvstore-servers=http://x'], 'must begin with postgres://'],
  [
    ['--kvstore-servers=postgres://a', '--kvstore-read-servers=postgres://b,db3:5432'],
    '--kvstore-read-servers: one of the URLs must begin with postgres://',
  ],
  [['--kvstore-read-servers=postgres://b'], '--kvstore-read-servers needs --kvstore-servers'],
  [
    ['--storage-backend=etcd3'],
    "--storage-backend invalid, allowed values: kvstore3. If not specified, it will default to 'kvstore3'",
  ],
  [['--storage-initialization-timeout=-1s'], '"-1s" is not a duration'],
  [['--kvstore-prefix=/'], '--kvstore-prefix: "/" must be a path'],
  [['--kvstore-prefix=/a b'], '--kvstore-prefix: "/a b" must be a path'],
  [['--watch-cache-sizes=pods'], 'invalid value of watch cache size: pods'],
  [['--watch-cache-sizes=pods#0#1'], 'invalid value of watch cache size: pods#0#1'],
  [['--watch-cache-sizes=pods#many'], 'invalid size of watch cache size: pods#many'],
  [['--watch-cache-sizes=pods#-1'], 'watch cache size cannot be negative: pods#-1'],
  ...[
    'events#postgres://a',
    '/events',
    '/events#',
    'a/b/c#postgres://a',
    '/events#postgres://a#b',
    '/#postgres://a',
  ].map((value): [string[], string] => [
    [`--kvstore-servers-overrides=${value}`],
    '--kvstore-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated',
  ]),
  [['--kvstore-servers-overrides=/events#http://a'], 'must begin with postgres://'],
  [['--feature-gates=WatchLst=true'], 'did you mean WatchList?'],
  [['--feature-gates=AuthorizeNodeWithSelectors=true'], 'needs AuthorizeWithSelectors=true'],
  [['--runtime-config=apps/v1=maybe'], 'must end in =true or =false'],
  [['--runtime-config=api/all=false'], 'api/all=false alone leaves nothing to serve'],
  [['--runtime-config=api/betas=true'], 'there is no API version "api/betas": did you mean api/beta?'],
  [['--runtime-config=batch/v2=true'], 'there is no API version "batch/v2": did you mean batch/v1?'],
  [['--runtime-config=widgets.example.com/v1'], 'a key is such as v1, apps/v1 or api/beta'],
  [['--runtime-config=autoscaling/v2beta2', '--emulated-version=1.36'], 'no API version'],
  [['--runtime-config=constructor'], 'there is no API version "constructor"'],
  [['--runtime-config=apps/v1/deployment=false'], 'has no resource "deployment": did you mean deployments?'],
  [['--runtime-config=batch/v1/Job'], 'has no resource "Job": did you mean jobs?'],
  [['--runtime-config=apps/v1/deployments/scale'], 'there is no API version "apps/v1/deployments/scale"'],
  [['--tls-cert-file=x'], 'belong together'],
  [['stray'], 'unexpected argument "stray"'],
  [['--service-cluster-ip-range=10.0.0.0'], 'is not a CIDR such as 10.96.0.0/16'],
  [
    ['--service-cluster-ip-range=10.0.0.0/8'],
    '10.0.0.0/8 is too large: the mask must be at least 12, unless',
  ],
  [
    ['--service-cluster-ip-range=10.0.0.0/24,fd00::/64', '--emulated-version=1.33'],
    'fd00::/64 is too large: the mask must be at least 108, unless',
  ],
  [['--service-cluster-ip-range=10.0.0.0/30'], 'is too small: the mask of 10.0.0.0/30 must be at most 29'],
  [['--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24'], 'two ranges of the same family'],
  [['--service-cluster-ip-range=10.0.0.0/24,fd00::/108,fd01::/108'], 'more than two ranges'],
  [['--service-node-port-range=32767-30000'], 'is not a range of ports such as 30000-32767'],
  [['--service-node-port-range=0-100000'], 'is not a range of ports such as 30000-32767'],
  [['--data-dir'], '--data-dir needs a value'],
])('%j is refused with one line that helps', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});

test('ranges of what services are assigned are read in each form', () => {
  const large = '--service-cluster-ip-range=10.0.0.0/8,fd00::/64';
  expect(parseOptions([large, '--emulated-version=1.34']).services.clusterIpRanges).toHaveLength(2);
  const gates = '--feature-gates=MultiCIDRServiceAllocator=true,DisableAllocatorDualWrite=true';
  const beta = '--runtime-config=networking.k8s.io/v1beta1=true';
  expect(parseOptions([large, gates, beta]).services.clusterIpRanges).toHaveLength(2);
  expect(parseOptions([]).services.clusterIpRanges).toMatchObject([{ family: 4, prefixBits: 24 }]);
  expect(
    parseOptions(['--service-cluster-ip-range=fd00::/108,10.96.0.0/16']).services.clusterIpRanges,
  ).toMatchObject([{ family: 6 }, { family: 4 }]);
  const ports = (text: string) => parseOptions([`--service-node-port-range=${text}`]).services.nodePortRange;
  expect(ports('1000-2000')).toEqual({ first: 1000, last: 2000 });
  expect(ports('1000+10')).toEqual({ first: 1000, last: 1010 });
});

test('resources of storage flags are read in either dialect, and those with the same servers are one database', () => {
  const { storage } = parseOptions([
    '--watch-cache-sizes=pods#0,nodes#100,leases.coordination.cluster.io#0,secrets#0,secrets#5',
    '--kvstore-servers-overrides=/events#postgres://a;postgres://b,coordination.cluster.io/leases#postgres://c',
    '--kvstore-servers-overrides=/pods#postgres://c,coordination.k8s.io/leases#postgres://a;postgres://b',
    '--kvstore-prefix=team/a/',
  ]);
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  expect(storage.uncached).toEqual([{ group: '', resource: 'pods' }, leases]);
  expect(storage.overrides).toEqual([
    { urls: ['postgres://a', 'postgres://b'], resources: [{ group: '', resource: 'events' }, leases] },
    { urls: ['postgres://c'], resources: [{ group: '', resource: 'pods' }] },
  ]);
  expect(storage.prefix).toBe('/team/a');
});

test.each<[key: string, group: string, isOn: boolean]>([
  ['apps/v1', 'apps', true],
  ['apps/v1=', 'apps', true],
  ['apps/v1=1', 'apps', true],
  ['apps/v1=F', 'apps', false],
  ['api/v1', '', true],
  ['api/v1=false', '', false],
  ['v1/pods=false', '', false],
  ['api/v1/pods=false', '', false],
])('runtime-config: %s sets a version', (key, group, isOn) => {
  const { runtimeConfig } = parseOptions([`--runtime-config=${key},api/legacy=false`]).api;
  expect(runtimeConfig.isEnabled({ group, version: 'v1' }, !isOn)).toBe(isOn);
});

test.each([
  ['discovery.k8s.io/v1beta1', 36],
  ['extensions/v1beta1/deployments=true', 31],
  ['policy/v1beta1=false', 36],
  ['autoscaling/v2beta2', 35],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 36],
  ['flowcontrol.apiserver.k8s.io/v1beta3', 36],
  ['authentication.k8s.io/v1alpha1', 36],
  ['storage.k8s.io/v1alpha1', 36],
  ['certificates.k8s.io/v1beta1', 31],
  ['scheduling.k8s.io/v1alpha1', 31],
])('runtime-config: %s is known to Kubernetes 1.%i, without being served', (key, minor) => {
  const args = [`--runtime-config=${key}`, `--emulated-version=1.${minor}`];
  const { resources } = parseOptions(args).api;
  expect(resources).toEqual(parseOptions(args.slice(1)).api.resources);
});

test('runtime-config: a resource named wins over its version', () => {
  const { runtimeConfig } = parseOptions(['--runtime-config=apps/v1=false,apps/v1/deployments=true']).api;
  const isServed = (resource: string): boolean =>
    runtimeConfig.isEnabled({ group: 'apps', version: 'v1' }, true, resource);
  expect([isServed('deployments'), isServed('daemonsets')]).toEqual([true, false]);
});

test('a flag without effect may be given its default', () => {
  expect(() =>
    parseOptions(['--profiling=true', '--agent-timeout=5s', '--feature-gates=SidecarContainers=true']),
  ).not.toThrow();
});

test('an empty --storage-media-type is the default', () => {
  expect(parseOptions(['--storage-media-type=']).storage.mediaType).toBe('application/json');
});

test('--help names every flag once, under its heading', () => {
  const help = formatHelp(SECTIONS, []);
  for (const { name } of ALL_FLAGS) {
    const mentions = help.split('\n').filter((line) => new RegExp(`^ {4}--?${name}( |$)`).test(line));
    expect(mentions, name).toHaveLength(1);
  }
});

test('runtime-config: a version named wins over its stage, a stage over all', () => {
  const { runtimeConfig } = parseOptions([
    '--runtime-config=api/all=true,api/alpha=false,storage.cluster.io/v1alpha1=true',
  ]).api;
  expect(runtimeConfig.isEnabled({ group: 'resource.k8s.io', version: 'v1alpha3' }, false)).toBe(false);
  expect(runtimeConfig.isEnabled({ group: 'storage.k8s.io', version: 'v1alpha1' }, false)).toBe(true);
  expect(runtimeConfig.isEnabled({ group: 'networking.k8s.io', version: 'v1beta1' }, false)).toBe(true);
});

test('a start waits for storage as long as it takes, unless a flag bounds it', () => {
  const timeoutOf = (...flags: string[]): number => parseOptions(flags).storage.initializationTimeoutMs;
  expect(timeoutOf()).toBe(0);
  expect(timeoutOf('--storage-initialization-timeout=1m')).toBe(60_000);
});
