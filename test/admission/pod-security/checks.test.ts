import { expect, test } from 'vitest';
import { ALL_CHECKS, Evaluator } from '../../../src/admission/pod-security/evaluator.ts';
import { LATEST, type Version } from '../../../src/admission/pod-security/namespace-levels.ts';
import { toCheckedPod } from '../../../src/admission/pod-security/pod-check.ts';
import type { JsonObject } from '../../../src/api/object-meta.ts';

interface Case {
  readonly name: string;
  readonly annotations?: Record<string, string>;
  readonly spec?: JsonObject;
  readonly since?: Version;
  readonly relaxes?: boolean;
  /** Reason and detail; absent: the pod may be. */
  readonly expected?: readonly [string, string];
}

/** A container for each securityContext, named a, b, c … */
const containers = (...contexts: (JsonObject | undefined)[]): JsonObject[] =>
  contexts.map((securityContext, at) => ({ name: String.fromCharCode(97 + at), securityContext }));
const windows = { os: { name: 'windows' } };

const CASES: Readonly<Record<string, readonly Case[]>> = {
  allowPrivilegeEscalation: [
    {
      name: 'only containers that say no',
      spec: {
        containers: containers(
          undefined,
          {},
          { allowPrivilegeEscalation: true },
          { allowPrivilegeEscalation: false },
        ),
      },
      expected: [
        'allowPrivilegeEscalation != false',
        'containers "a", "b", "c" must set securityContext.allowPrivilegeEscalation=false',
      ],
    },
    { name: 'Windows, from 1.25', spec: { ...windows, containers: containers({}) }, since: 25 },
    {
      name: 'Windows, before 1.25',
      spec: { ...windows, containers: containers({}) },
      since: 24,
      expected: [
        'allowPrivilegeEscalation != false',
        'container "a" must set securityContext.allowPrivilegeEscalation=false',
      ],
    },
    { name: 'before there was such a field', spec: { containers: containers({}) }, since: 7 },
  ],
  appArmorProfile: [
    {
      name: 'profiles of the runtime and of the node',
      annotations: {
        'container.apparmor.security.beta.kubernetes.io/a': 'runtime/default',
        'container.apparmor.security.beta.kubernetes.io/b': 'localhost/profile',
        env: 'unconfined',
      },
      spec: {
        securityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
        containers: containers({ appArmorProfile: { type: 'Localhost' } }),
      },
    },
    {
      name: 'a pod without one',
      spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      expected: ['forbidden AppArmor profile', 'pod must not set AppArmor profile type to "Unconfined"'],
    },
    {
      name: 'an init container without one',
      spec: {
        securityContext: { appArmorProfile: { type: 'RuntimeDefault' } },
        containers: [{ name: 'foo' }],
        initContainers: [{ name: 'bar', securityContext: { appArmorProfile: { type: 'Unconfined' } } }],
      },
      expected: [
        'forbidden AppArmor profile',
        'container "bar" must not set AppArmor profile type to "Unconfined"',
      ],
    },
    {
      name: 'annotations',
      annotations: Object.fromEntries(
        ['=bogus', 'a=', 'b=runtime/default', 'c=localhost/', 'd=localhost/x', 'e=unconfined', 'f=unknown']
          .map((pair) => pair.split('='))
          .map(([key, value = '']) => [`container.apparmor.security.beta.kubernetes.io/${key}`, value]),
      ),
      expected: [
        'forbidden AppArmor profiles',
        'annotations must not set AppArmor profile type to ' +
          '"container.apparmor.security.beta.kubernetes.io/="bogus"", ' +
          '"container.apparmor.security.beta.kubernetes.io/e="unconfined"", ' +
          '"container.apparmor.security.beta.kubernetes.io/f="unknown""',
      ],
    },
    {
      name: 'all of it at once',
      annotations: { 'container.apparmor.security.beta.kubernetes.io/a': 'unconfined' },
      spec: {
        securityContext: { appArmorProfile: { type: 'Unconfined' } },
        containers: containers({ appArmorProfile: { type: 'Unconfined' } }),
      },
      expected: [
        'forbidden AppArmor profiles',
        'pod and container "a" and annotation must not set AppArmor profile type to ' +
          '"Unconfined", "container.apparmor.security.beta.kubernetes.io/a="unconfined""',
      ],
    },
  ],
  capabilities_baseline: [
    {
      name: 'beyond what runtimes give',
      spec: {
        containers: containers(
          { capabilities: { add: ['FOO', 'BAR'] } },
          { capabilities: { add: ['BAR', 'BAZ'] } },
          { capabilities: { add: ['CHOWN'] } },
        ),
      },
      expected: [
        'non-default capabilities',
        'containers "a", "b" must not include "BAR", "BAZ", "FOO" in securityContext.capabilities.add',
      ],
    },
  ],
  capabilities_restricted: [
    {
      name: 'kept and added',
      spec: {
        containers: containers(
          { capabilities: { add: ['FOO', 'BAR'] } },
          { capabilities: { add: ['BAR', 'BAZ'] } },
          { capabilities: { add: ['NET_BIND_SERVICE', 'CHOWN'], drop: ['ALL', 'FOO'] } },
        ),
      },
      expected: [
        'unrestricted capabilities',
        'containers "a", "b" must set securityContext.capabilities.drop=["ALL"]; ' +
          'containers "a", "b", "c" must not include "BAR", "BAZ", "CHOWN", "FOO" in securityContext.capabilities.add',
      ],
    },
    { name: 'Windows', spec: { ...windows, containers: containers({}) } },
    {
      name: 'Windows, before 1.25',
      spec: { ...windows, containers: containers({}) },
      since: 22,
      expected: [
        'unrestricted capabilities',
        'container "a" must set securityContext.capabilities.drop=["ALL"]',
      ],
    },
    { name: 'before 1.22', spec: { containers: containers({}) }, since: 21 },
  ],
  hostNamespaces: [
    {
      name: 'all of them',
      spec: { hostIPC: true, hostPID: true, hostNetwork: true },
      expected: ['host namespaces', 'hostNetwork=true, hostPID=true, hostIPC=true'],
    },
    { name: 'none', spec: { hostIPC: false } },
  ],
  hostPathVolumes: [
    {
      name: 'two of three volumes',
      spec: {
        volumes: [
          { name: 'a', hostPath: {} },
          { name: 'b', hostPath: {} },
          { name: 'c', emptyDir: {} },
        ],
      },
      expected: ['hostPath volumes', 'volumes "a", "b"'],
    },
  ],
  hostPorts: [
    {
      name: 'one port',
      spec: {
        containers: [
          { name: 'a', ports: [{ hostPort: 0 }] },
          { name: 'b', ports: [{}, { hostPort: 20 }] },
        ],
      },
      expected: ['hostPort', 'container "b" uses hostPort 20'],
    },
    {
      name: 'several',
      spec: {
        initContainers: [{ name: 'b', ports: [{ hostPort: 80 }, { hostPort: 443 }] }],
        ephemeralContainers: [{ name: 'c', ports: [{ hostPort: 80 }] }],
      },
      expected: ['hostPort', 'containers "b", "c" use hostPorts 443, 80'],
    },
  ],
  privileged: [
    {
      name: 'containers that are',
      spec: {
        containers: containers(
          undefined,
          {},
          { privileged: false },
          { privileged: true },
          { privileged: true },
        ),
      },
      expected: ['privileged', 'containers "d", "e" must not set securityContext.privileged=true'],
    },
  ],
  procMount: [false, true].map((relaxes) => ({
    name: `unmasked${relaxes ? ' in a pod with users of its own' : ''}`,
    relaxes,
    since: 34,
    spec: {
      hostUsers: false,
      containers: containers({}, { procMount: 'Default' }, { procMount: 'Unmasked' }, { procMount: 'other' }),
    },
    ...(relaxes
      ? {}
      : {
          expected: [
            'procMount',
            'containers "c", "d" must not set securityContext.procMount to "Unmasked", "other"',
          ],
        }),
  })),
  restrictedVolumes: [
    { name: 'an image', spec: { volumes: [{ name: 'v', image: { reference: 'i' } }] } },
    {
      name: 'those of this cluster',
      spec: {
        volumes: [
          'configMap',
          'csi',
          'downwardAPI',
          'emptyDir',
          'ephemeral',
          'persistentVolumeClaim',
          'projected',
          'secret',
        ].map((type) => ({ name: type, [type]: {} })),
      },
    },
    {
      name: 'all others',
      spec: {
        volumes: (
          'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs ' +
          'flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos none'
        )
          .split(' ')
          .map((type, at) => ({ name: `b${at}`, ...(type === 'none' ? {} : { [type]: {} }) })),
      },
      expected: [
        'restricted volume types',
        `volumes ${Array.from({ length: 22 }, (_, at) => `"b${at}"`).join(', ')} use restricted volume types ` +
          '"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc", "flexVolume", "flocker", ' +
          '"gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "iscsi", "nfs", "photonPersistentDisk", ' +
          '"portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "unknown", "vsphereVolume"',
      ],
    },
    {
      name: 'one',
      spec: { volumes: [{ name: 'a', nfs: {} }] },
      expected: ['restricted volume types', 'volume "a" uses restricted volume type "nfs"'],
    },
  ],
  runAsNonRoot: [
    {
      name: 'neither the pod nor all containers set it',
      spec: { containers: containers(undefined, {}, { runAsNonRoot: true }) },
      expected: [
        'runAsNonRoot != true',
        'pod or containers "a", "b" must set securityContext.runAsNonRoot=true',
      ],
    },
    {
      name: 'the pod says no',
      spec: {
        securityContext: { runAsNonRoot: false },
        containers: containers({}, { runAsNonRoot: true }),
      },
      expected: ['runAsNonRoot != true', 'pod must not set securityContext.runAsNonRoot=false'],
    },
    {
      name: 'containers say no',
      spec: {
        securityContext: { runAsNonRoot: true },
        containers: containers(undefined, {}, { runAsNonRoot: false }, { runAsNonRoot: false }),
      },
      expected: [
        'runAsNonRoot != true',
        'containers "c", "d" must not set securityContext.runAsNonRoot=false',
      ],
    },
    { name: 'users of its own', relaxes: true, spec: { hostUsers: false, containers: containers({}) } },
    {
      name: "the node's users",
      relaxes: true,
      spec: { hostUsers: true, containers: containers({}) },
      expected: ['runAsNonRoot != true', 'pod or container "a" must set securityContext.runAsNonRoot=true'],
    },
  ],
  runAsUser: [
    {
      name: 'the pod is root',
      spec: { securityContext: { runAsUser: 0 }, containers: containers({ runAsUser: 1 }) },
      expected: ['runAsUser=0', 'pod must not set runAsUser=0'],
    },
    {
      name: 'containers are',
      spec: {
        securityContext: { runAsUser: 1 },
        containers: containers({}, { runAsUser: 0 }, { runAsUser: 0 }),
      },
      expected: ['runAsUser=0', 'containers "b", "c" must not set runAsUser=0'],
    },
    { name: 'nobody', spec: { securityContext: { runAsUser: 1000 }, containers: containers({}) } },
    {
      name: 'users of its own',
      relaxes: true,
      spec: { hostUsers: false, securityContext: { runAsUser: 0 } },
    },
    { name: 'before 1.23', since: 22, spec: { securityContext: { runAsUser: 0 } } },
  ],
  seLinuxOptions: [
    {
      name: 'types, users and roles',
      spec: {
        securityContext: { seLinuxOptions: { type: 'foo', user: 'bar', role: 'baz' } },
        containers: containers(
          { seLinuxOptions: { type: 'container_t' } },
          { seLinuxOptions: { type: 'container_init_t' } },
          { seLinuxOptions: { type: 'container_kvm_t' } },
          { seLinuxOptions: { type: 'container_engine_t' } },
          { seLinuxOptions: { type: 'bar' } },
          { seLinuxOptions: { user: 'bar' } },
          { seLinuxOptions: { role: 'baz' } },
        ),
      },
      expected: [
        'seLinuxOptions',
        'pod and containers "e", "f", "g" set forbidden securityContext.seLinuxOptions: types "bar", "foo"; ' +
          'user may not be set; role may not be set',
      ],
    },
    {
      name: 'a type that came with 1.31, before',
      since: 30,
      spec: { containers: containers({ seLinuxOptions: { type: 'container_engine_t' } }) },
      expected: [
        'seLinuxOptions',
        'container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t"',
      ],
    },
    {
      name: 'a user alone',
      spec: { securityContext: { seLinuxOptions: { user: 'bad' } } },
      expected: ['seLinuxOptions', 'pod set forbidden securityContext.seLinuxOptions: user may not be set'],
    },
  ],
  seccompProfile_baseline: [
    {
      name: 'annotations, before 1.19',
      since: 18,
      annotations: {
        'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
        'container.seccomp.security.alpha.kubernetes.io/a': 'unconfined',
        'container.seccomp.security.alpha.kubernetes.io/b': 'unknown',
        'container.seccomp.security.alpha.kubernetes.io/c': 'docker/default',
        'container.seccomp.security.alpha.kubernetes.io/stranger': 'unconfined',
      },
      spec: { containers: containers({}, {}, {}) },
      expected: [
        'seccompProfile',
        'forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="unconfined", ' +
          'container.seccomp.security.alpha.kubernetes.io/b="unknown", seccomp.security.alpha.kubernetes.io/pod="unconfined"',
      ],
    },
    {
      name: 'one annotation',
      since: 0,
      annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
      expected: [
        'seccompProfile',
        'forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"',
      ],
    },
    {
      name: 'annotations that mean nothing any more',
      annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
    },
    {
      name: 'pod and containers',
      spec: {
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: containers(
          {},
          { seccompProfile: { type: 'Unconfined' } },
          { seccompProfile: { type: 'RuntimeDefault' } },
        ),
      },
      expected: [
        'seccompProfile',
        'pod and container "b" must not set securityContext.seccompProfile.type to "Unconfined"',
      ],
    },
  ],
  seccompProfile_restricted: [
    {
      name: 'neither the pod nor all containers ask for a profile',
      spec: { containers: containers(undefined, {}, { seccompProfile: { type: 'Localhost' } }) },
      expected: [
        'seccompProfile',
        'pod or containers "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
      ],
    },
    { name: 'Windows', spec: { ...windows, containers: containers({}) } },
    {
      name: 'Windows, before 1.25',
      since: 19,
      spec: { ...windows, containers: containers({}) },
      expected: [
        'seccompProfile',
        'pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
      ],
    },
    {
      name: 'the pod asks for none',
      spec: {
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: containers(undefined),
      },
      expected: ['seccompProfile', 'pod must not set securityContext.seccompProfile.type to "Unconfined"'],
    },
    {
      name: 'containers ask for none',
      spec: {
        securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
        containers: containers(
          {},
          { seccompProfile: { type: 'Unconfined' } },
          { seccompProfile: { type: 'Unconfined' } },
        ),
      },
      expected: [
        'seccompProfile',
        'containers "b", "c" must not set securityContext.seccompProfile.type to "Unconfined"',
      ],
    },
  ],
  sysctls: [
    {
      name: 'unknown ones',
      spec: { securityContext: { sysctls: [{ name: 'b' }, { name: 'a' }] } },
      expected: ['forbidden sysctls', 'b, a'],
    },
    ...(
      [
        ['kernel.shm_rmid_forced', 0],
        ['net.ipv4.ip_local_reserved_ports', 27],
        ['net.ipv4.tcp_keepalive_time', 29],
        ['net.ipv4.tcp_fin_timeout', 29],
        ['net.ipv4.tcp_keepalive_intvl', 29],
        ['net.ipv4.tcp_keepalive_probes', 29],
        ['net.ipv4.tcp_rmem', 32],
        ['net.ipv4.tcp_wmem', 32],
      ] as const
    ).flatMap(([sysctl, since]): Case[] => {
      const spec = { securityContext: { sysctls: [{ name: sysctl }] } };
      const before: Case = {
        name: `${sysctl}, before 1.${since}`,
        spec,
        since: since - 1,
        expected: ['forbidden sysctls', sysctl],
      };
      return [{ name: sysctl, spec, since }, ...(since === 0 ? [] : [before])];
    }),
  ],
  hostProbesAndHostLifecycle: [
    {
      name: 'hosts of probes and of hooks',
      spec: {
        containers: [
          { name: 'c', livenessProbe: { httpGet: { port: 80, host: 'b' } } },
          { name: 'a', lifecycle: { preStop: { tcpSocket: { port: 80, host: 'a' } } } },
          { name: 'quiet', readinessProbe: { httpGet: { port: 80 } } },
        ],
      },
      expected: ['probe or lifecycle host', 'containers "a", "c" use probe or lifecycle hosts "a", "b"'],
    },
  ],
  procMount_restricted: [
    {
      name: 'an unmasked one in a pod with users of its own',
      spec: { hostUsers: false, containers: containers({ procMount: 'Unmasked' }) },
      expected: ['procMount', 'container "a" must not set securityContext.procMount to "Unmasked"'],
    },
  ],
  windowsHostProcess: [
    {
      name: 'pod and containers',
      spec: {
        securityContext: { windowsOptions: { hostProcess: true } },
        containers: containers(
          undefined,
          {},
          { windowsOptions: {} },
          { windowsOptions: { hostProcess: false } },
          { windowsOptions: { hostProcess: true } },
          { windowsOptions: { hostProcess: true } },
        ),
      },
      expected: [
        'hostProcess',
        'pod and containers "e", "f" must not set securityContext.windowsOptions.hostProcess=true',
      ],
    },
  ],
};

const ALL_CASES = Object.entries(CASES).flatMap(([id, cases]) =>
  cases.map((one) => [`${id}: ${one.name}`, id, one] as const),
);

test.each(ALL_CASES)('%s', (_, id, { annotations, spec, since, relaxes, expected }) => {
  const evaluator = new Evaluator(ALL_CHECKS.filter((check) => check.id === id));
  const pod = toCheckedPod(annotations, spec ?? {}, relaxes ?? false);
  const found = evaluator.violationsOf({ level: 'restricted', version: since ?? LATEST }, pod);
  expect(found.map(({ reason, detail }) => [reason, detail])).toEqual(
    expected === undefined ? [] : [expected],
  );
});

test.each<[version: number, emulated: number | undefined, found: number]>([
  [33, undefined, 0],
  [34, undefined, 1],
  [LATEST, 33, 0],
  [LATEST, 34, 1],
])(
  'a policy of version %d, by a server of version %s: hosts of probes are %d violations',
  (version, emulated, found) => {
    const spec = { containers: [{ name: 'a', livenessProbe: { tcpSocket: { port: 80, host: 'db' } } }] };
    const evaluator = new Evaluator(ALL_CHECKS, emulated);
    const pod = toCheckedPod({}, spec, false);
    expect(evaluator.violationsOf({ level: 'baseline', version }, pod)).toHaveLength(found);
  },
);

test.each<[version: number, level: 'baseline' | 'restricted', reasons: string[]]>([
  [34, 'baseline', ['procMount']],
  [35, 'baseline', []],
  [34, 'restricted', ['procMount', 'runAsNonRoot != true', 'runAsUser=0']],
  [35, 'restricted', ['procMount']],
])('a pod with users of its own, by a policy of version %d and level %s', (version, level, reasons) => {
  const quiet = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const securityContext = { ...quiet, procMount: 'Unmasked', runAsUser: 0 };
  const pod = toCheckedPod({}, { hostUsers: false, containers: [{ name: 'a', securityContext }] }, false);
  const found = new Evaluator(ALL_CHECKS).violationsOf({ level, version }, pod);
  expect(found.map(({ reason }) => reason)).toEqual(reasons);
});

test('every check is tried', () => {
  expect(Object.keys(CASES).sort()).toEqual(ALL_CHECKS.map(({ id }) => id).sort());
});

test('checks are listed by level, then by id; versions rise; only baseline checks are overridden', () => {
  const keys = ALL_CHECKS.map(({ level, id }) => `${level} ${id}`);
  expect(keys).toEqual([...keys].sort());
  const baseline = ALL_CHECKS.filter(({ level }) => level === 'baseline').map(({ id }) => id);
  for (const { level, versions } of ALL_CHECKS) {
    const since = versions.map((version) => version.since);
    expect(since).toEqual([...new Set(since)].sort((a, b) => a - b));
    const overrides = versions.flatMap((version) => version.overrides ?? []);
    expect(level === 'restricted' || overrides.length === 0).toBe(true);
    expect(baseline).toEqual(expect.arrayContaining(overrides));
  }
});
