import { expect, test } from 'vitest';
import { MINORS, toVersion } from '../../src/api/emulation.ts';
import { gatesOf, newestForExpressions } from '../../src/api/feature-gates.ts';
import { ALL_FLAGS } from '../../src/options/all-flags.ts';
import { UsageError } from '../../src/options/flag.ts';
import { parseOptions } from '../../src/options/options.ts';
import { DEFAULT_MINOR, versionInfoOf } from '../../src/version.ts';

const apiOf = (...args: string[]) => parseOptions(args).api;

test('each version from 1.31 to 1.36 can be emulated, and 1.31 is the default', () => {
  expect(apiOf().emulated).toBe(31);
  for (const minor of MINORS) {
    expect(apiOf(`--emulated-version=${toVersion(minor)}`).emulated).toBe(minor);
    expect(apiOf(`--emulated-version=kube=${toVersion(minor)}`).emulated).toBe(minor);
    expect(versionInfoOf(minor)).toMatchObject({ major: '1', minor: String(minor) });
    expect(versionInfoOf(minor).gitVersion).toMatch(new RegExp(`^v1\\.${minor}\\.0\\+pg-apiserver`));
  }
});

test.each([
  ['--emulated-version=1.37', '"1.37" is not available: this server emulates 1.31 to 1.36'],
  ['--emulated-version=v1.33', '"v1.33" is not available'],
  ['--emulated-version=etcd=1.33', 'unknown component "etcd"'],
  ['--emulated-version=1.33,1.34', 'the version of cluster is given twice'],
])('%s is refused', (flag, message) => {
  expect(() => apiOf(flag)).toThrow(UsageError);
  expect(() => apiOf(flag)).toThrow(message);
});

test('a gate has the stage and the default that the emulated version gives it', () => {
  const isOn = (minor: string, gate: string): boolean =>
    apiOf(`--emulated-version=${minor}`).featureGates.isEnabled(gate);
  // The lists of Kubernetes: on in 1.32, off in 1.33, on again since 1.34.
  expect(['1.31', '1.32', '1.33', '1.34'].map((minor) => isOn(minor, 'WatchList'))).toEqual([
    false,
    true,
    false,
    true,
  ]);
  expect(gatesOf(32).get('PodLevelResources')).toEqual({ stage: 'Alpha', on: false, isLocked: false });
  expect(gatesOf(34).get('PodLevelResources')).toEqual({ stage: 'Beta', on: true, isLocked: false });
});

test('a gate is unknown before its version, and locked once it has graduated', () => {
  const gate = '--feature-gates=HostnameOverride=true';
  expect(() => apiOf(gate)).toThrow('gate HostnameOverride came with 1.34, which is not emulated');
  expect(apiOf('--emulated-version=1.34', gate).featureGates.isEnabled('HostnameOverride')).toBe(true);
  const off = '--feature-gates=RetryGenerateName=false';
  expect(apiOf(off).featureGates.isEnabled('RetryGenerateName')).toBe(false);
  expect(() => apiOf('--emulated-version=1.32', off)).toThrow(
    'RetryGenerateName cannot be false: 1.32 locks it to true',
  );
});

test('AllAlpha and AllBeta concern the gates that are alpha and beta in the emulated version', () => {
  const beta = apiOf('--emulated-version=1.33', '--feature-gates=AllBeta=false').featureGates;
  expect(beta.isEnabled('SELinuxChangePolicy')).toBe(false);
  const alpha = apiOf('--emulated-version=1.32', '--feature-gates=AllAlpha=true').featureGates;
  expect(alpha.isEnabled('SELinuxChangePolicy')).toBe(true);
});

test('every version keeps the gates of the one before it', () => {
  for (const minor of MINORS) {
    if (minor === DEFAULT_MINOR) continue;
    const before = [...gatesOf(MINORS[MINORS.indexOf(minor) - 1] ?? DEFAULT_MINOR).keys()];
    expect([...gatesOf(minor).keys()]).toEqual(expect.arrayContaining(before));
  }
});

test('a plugin is there from its version on', () => {
  const pluginsOf = (...args: string[]) => parseOptions(args).admission.plugins;
  expect(pluginsOf()).not.toContain('MutatingAdmissionPolicy');
  const plugins = pluginsOf('--emulated-version=1.32');
  expect(plugins.slice(plugins.indexOf('MutatingAdmissionPolicy')).slice(0, 3)).toEqual([
    'MutatingAdmissionPolicy',
    'MutatingAdmissionWebhook',
    'ValidatingAdmissionPolicy',
  ]);
  const off = '--disable-admission-plugins=MutatingAdmissionPolicy';
  expect(pluginsOf('--emulated-version=1.36', off)).not.toContain('MutatingAdmissionPolicy');
  expect(() => pluginsOf(off)).toThrow(
    '--disable-admission-plugins: Kubernetes 1.31, which is emulated, has no plugin MutatingAdmissionPolicy',
  );
});

/** Flags that came after 1.31, with a value each and what else it needs. */
const NEWER_FLAGS: readonly (readonly [version: string, flag: string, ...needed: string[]])[] = [
  ['1.32', '--requestheader-uid-headers=X-Remote-Uid', '--feature-gates=RemoteRequestHeaderUID=true'],
  [
    '1.32',
    '--service-account-signing-endpoint=/run/signer.sock',
    '--feature-gates=ExternalServiceAccountTokenSigner=true',
  ],
  ['1.32', '--send-retry-after-while-not-ready-once'],
  ['1.32', '--log-json-split-stream', '--feature-gates=LoggingAlphaOptions=true'],
  ['1.32', '--log-json-info-buffer-size=1Ki', '--feature-gates=LoggingAlphaOptions=true'],
  ['1.33', '--coordinated-leadership-lease-duration=20s'],
  ['1.33', '--coordinated-leadership-renew-deadline=11s'],
  ['1.33', '--coordinated-leadership-retry-period=3s'],
  ['1.33', '--emulation-forward-compatible'],
  ['1.33', '--runtime-config-emulation-forward-compatible'],
  ['1.35', '--min-compatibility-version=1.33'],
  ['1.36', '--tls-curve-preferences=29,23'],
];

test('every flag with a version is in the list', () => {
  const named = NEWER_FLAGS.map(([version, flag]) => `${version} ${flag.replace(/=.*/, '')}`);
  const newer = ALL_FLAGS.flatMap(({ since, shown }) =>
    since === undefined ? [] : [`${toVersion(since)} ${shown}`],
  );
  expect(newer.sort()).toEqual(named.sort());
});

test.each(NEWER_FLAGS)('%s has %s, and the version before it has not', (version, flag, ...needed) => {
  expect(() => parseOptions([`--emulated-version=${version}`, flag, ...needed])).not.toThrow();
  const before = MINORS.findLast((minor) => toVersion(minor) < version) ?? DEFAULT_MINOR;
  const wrong = () => parseOptions([`--emulated-version=${toVersion(before)}`, flag]);
  expect(wrong).toThrow(UsageError);
  const name = flag.replace(/=.*/, '');
  expect(wrong).toThrow(
    `${name} came with ${version}, and ${toVersion(before)} is emulated: give --emulated-version=${version} or a later one`,
  );
});

test.each([
  [['--logging-format=json'], 'only text is permitted before 1.32'],
  [['--logging-format=xml'], 'only text and json are permitted'],
  [
    ['--emulated-version=1.32', '--logging-format=json', '--feature-gates=LoggingBetaOptions=false'],
    '--logging-format=json needs --feature-gates=LoggingBetaOptions=true',
  ],
  [['--emulated-version=1.32', '--log-json-split-stream'], 'needs --feature-gates=LoggingAlphaOptions=true'],
  [
    ['--emulated-version=1.32', '--requestheader-uid-headers=X-Remote-Uid'],
    '--requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true',
  ],
  [
    ['--emulated-version=1.33', '--service-account-signing-endpoint=/a'],
    '--service-account-signing-endpoint needs --feature-gates=ExternalServiceAccountTokenSigner=true',
  ],
  [
    ['--emulated-version=1.34', '--service-account-signing-endpoint=/a', '--service-account-key-file=a'],
    '--service-account-key-file and --service-account-signing-endpoint are mutually exclusive',
  ],
  [
    ['--emulated-version=1.34', '--service-account-signing-endpoint=@a/b'],
    '--service-account-signing-endpoint: behind @ comes the name of an abstract socket',
  ],
  [['--emulated-version=1.33', '--requestheader-uid-headers=X-Id'], 'X-Remote-Uid must be one of them'],
  [
    ['--emulated-version=1.33', '--coordinated-leadership-renew-deadline=15s'],
    '--coordinated-leadership-lease-duration must be more than --coordinated-leadership-renew-deadline',
  ],
  [
    ['--emulated-version=1.33', '--coordinated-leadership-retry-period=9s'],
    'must be more than 1.2 times --coordinated-leadership-retry-period',
  ],
  [['--emulated-version=1.36', '--emulation-forward-compatible'], 'no later version than the emulated 1.36'],
  [
    ['--emulated-version=1.35', '--min-compatibility-version=1.36'],
    '"1.36" must be from 1.31 to the emulated version, 1.35',
  ],
  [['--emulated-version=1.36', '--tls-curve-preferences=22'], '"22" must be one of 23, 24, 25, 29, 4588'],
  [['--emulated-version=1.36', '--tls-curve-preferences=29,29'], '29 is given twice'],
])('%j is refused', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});

test('the log has the format and the streams of its flags', () => {
  const alpha = '--feature-gates=LoggingAlphaOptions=true';
  const { log } = parseOptions([
    ...['--emulated-version=1.32', '--logging-format=json', '--log-json-split-stream', alpha],
    '--log-json-info-buffer-size=1Ki',
  ]).observability;
  expect(log).toMatchObject({ format: 'json', splitStream: true, bufferBytes: 1024 });
  expect(parseOptions([]).observability.log).toMatchObject({ format: 'text', splitStream: false });
});

test('new expressions use the functions of the version before, or of --min-compatibility-version', () => {
  const newest = (...args: string[]) => newestForExpressions(apiOf(...args).featureGates.isEnabled);
  expect(newest()).toBe(31);
  expect(newest('--emulated-version=1.35')).toBe(34);
  expect(newest('--emulated-version=1.35', '--min-compatibility-version=kube=1.32')).toBe(32);
  expect(newest('--emulated-version=1.35', '--min-compatibility-version=1.35')).toBe(35);
});

test('a server tells since 1.33 what it emulates, and with which version it is compatible', () => {
  expect(versionInfoOf(32)).toMatchObject({ major: '1', minor: '32' });
  expect(versionInfoOf(32)).not.toHaveProperty('emulationMajor');
  expect(versionInfoOf(35)).toMatchObject({
    ...{ minor: '35', emulationMajor: '1', emulationMinor: '35' },
    ...{ minCompatibilityMajor: '1', minCompatibilityMinor: '34' },
  });
  expect(versionInfoOf(35, 33).minCompatibilityMinor).toBe('33');
});

const versionsOf = (resource: string, ...args: string[]): readonly string[] | undefined =>
  apiOf(...args)
    .resources.find((one) => one.resource === resource)
    ?.versions.map(({ version }) => version);

test('later versions of an API are served where a flag asks for what came after the emulated version', () => {
  const at33 = '--emulated-version=1.33';
  const named = '--runtime-config=storage.k8s.io/v1,resource.k8s.io/v1=true';
  expect(versionsOf('volumeattributesclasses', at33)).toEqual(['v1beta1', 'v1alpha1']);
  expect(() => apiOf(at33, '--runtime-config=admissionregistration.k8s.io/v1beta2')).toThrow(
    'no API version',
  );
  expect(() => apiOf(at33, named)).toThrow('Kubernetes 1.33, which is emulated, has no resource.k8s.io/v1');
  const accepted = [at33, '--runtime-config-emulation-forward-compatible', named];
  expect(versionsOf('resourceclaims', ...accepted)).toEqual(['v1', 'v1beta2', 'v1beta1', 'v1alpha3']);
  // Only a served worse version that is not alpha brings a better one along.
  const forward = [at33, '--emulation-forward-compatible'];
  expect(versionsOf('volumeattributesclasses', ...forward)).toEqual(['v1beta1', 'v1alpha1']);
  expect(
    versionsOf('volumeattributesclasses', ...forward, '--runtime-config=storage.k8s.io/v1beta1'),
  ).toEqual(['v1', 'v1beta1', 'v1alpha1']);
  expect(versionsOf('mutatingadmissionpolicies', ...forward)).toEqual(['v1alpha1']);
});
