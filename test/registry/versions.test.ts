import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MINORS, type Minor, toVersion } from '../../src/api/emulation.ts';
import { gatesOf } from '../../src/api/feature-gates.ts';
import { loadTypes, type TypeLibrary } from '../../src/api/idl/types.ts';
import { OTHER_NAMES } from '../../src/options/feature-gates.ts';
import { builtInResources } from '../../src/resources/all.ts';

/**
 * The emulated versions against the facts of Kubernetes' repositories: kubernetes/api (generated.proto, tags v0.32 to v0.36) and
 * the discovery of a running 1.36. What is missing is listed with its reason. The lists only shrink: an entry that is no longer
 * missing fails the test.
 */

interface Facts {
  /** By version, the fields that existing messages gained: `core/v1.PodSpec resources 40`. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** By version, the new messages with the numbers of their fields: `name=1 uid=2`. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Of 1.36: `policy/v1 poddisruptionbudgets on create,delete,… status`. */
  readonly resources: readonly string[];
  /** What holds for each gate since which version, the first in 1.31: `1.31 Alpha off, 1.35 GA on locked`. */
  readonly gates: Readonly<Record<string, string>>;
  /** Of 1.36, enumerations that differ from 1.31: `core/v1.Toleration operator Equal Exists Gt Lt`. */
  readonly enums: readonly string[];
}

const facts = JSON.parse(readFileSync(new URL('version-facts.json', import.meta.url), 'utf8')) as Facts;

/** Fields and messages, each by its beginning. */
const MISSING: Readonly<Record<string, string>> = {};

/** Resources of 1.36, and parts of them. */
const MISSING_RESOURCES: Readonly<Record<string, string>> = {};

/** Gates, by the name that Kubernetes gives them. */
const MISSING_GATES: Readonly<Record<string, string>> = {};

/** Enumerations, by field. */
const MISSING_ENUMS: Readonly<Record<string, string>> = {};

const LATER: readonly Minor[] = MINORS.filter((minor) => minor > 31);

function isListed(line: string, list: Readonly<Record<string, string>>, used: Set<string>): boolean {
  const entry = Object.keys(list).find((start) => line.startsWith(start));
  if (entry !== undefined) used.add(entry);
  return entry !== undefined;
}

test('each version has the fields and messages that it added, with their numbers, and the one before has not', () => {
  const used = new Set<string>();
  const wrong: string[] = [];
  for (const minor of LATER) {
    const has = numbersOf(minor);
    const had = numbersOf(MINORS[MINORS.indexOf(minor) - 1] ?? 31);
    for (const line of linesOf(minor)) {
      if (isListed(line, MISSING, had.has(line) || has.has(line) ? new Set() : used)) continue;
      if (!has.has(line)) wrong.push(`${toVersion(minor)} lacks ${line}`);
      if (had.has(line)) wrong.push(`the version before ${toVersion(minor)} has ${line}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(MISSING).sort());
});

/** `core/v1.PodSpec hostname 16` */
function linesOf(minor: Minor): string[] {
  const version = toVersion(minor);
  const added = Object.entries(facts.types[version] ?? {}).flatMap(([name, fields]) =>
    fields
      .split(' ')
      // JSON has the fields of an inline message in the message around it, and so has the IDL.
      .filter((field) => field !== '' && !field.startsWith('deviceConfiguration='))
      .map((field) => `${name} ${field.replace('=', ' ')}`),
  );
  return [...(facts.fields[version] ?? []), ...added];
}

function numbersOf(minor: Minor): ReadonlySet<string> {
  const types = loadTypes(minor);
  const lines = new Set<string>();
  // What containers have in common is a message of its own on the wire.
  for (const name of types.names())
    for (const { name: field, number } of types.message(name).fields.values()) {
      lines.add(`${name} ${field} ${number}`);
      if (name === 'core/v1.EphemeralContainer') lines.add(`${name}Common ${field} ${number}`);
    }
  return lines;
}

test('each version has the gates of its time, with their stage, their default, and whether it is locked', () => {
  const used = new Set<string>();
  const wrong: string[] = [];
  for (const minor of LATER) {
    const gates = gatesOf(minor);
    for (const [name, life] of Object.entries(facts.gates)) {
      const said = life
        .split(', ')
        .map((line) => line.split(' '))
        .filter(([version = '']) => Number(version.slice(2)) <= minor)
        .at(-1);
      if (said === undefined) continue;
      const gate = gates.get(OTHER_NAMES.get(name) ?? name);
      const has =
        gate && [gate.stage, gate.on ? 'on' : 'off', ...(gate.isLocked ? ['locked'] : [])].join(' ');
      const wanted = said.slice(1).join(' ').replace('PreAlpha', 'Alpha');
      if (has !== wanted && !isListed(name, MISSING_GATES, used))
        wrong.push(`${toVersion(minor)} ${name}: ${has} instead of ${wanted}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(MISSING_GATES).sort());
});

test('1.36 has the values of enumerations that Kubernetes 1.36 has', () => {
  const types = loadTypes(36);
  const used = new Set<string>();
  const wrong: string[] = [];
  for (const line of facts.enums) {
    const [name = '', field = '', ...values] = line.split(' ');
    const type = name.replace('apiextensions-apiserver.pkg.apis.apiextensions.', 'apiextensions/');
    const schema = types.has(type) ? types.message(type).fields.get(field)?.value : undefined;
    const item = schema?.kind === 'list' ? schema.items : schema;
    const has = item !== undefined && 'enum' in item ? [...(item.enum ?? [])].sort().join() : 'none';
    if (has !== values.sort().join() && !isListed(`${type} ${field}`, MISSING_ENUMS, used))
      wrong.push(`${line}: ${has}`);
  }
  expect(wrong).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(MISSING_ENUMS).sort());
});

test('1.36 serves what Kubernetes 1.36 does', () => {
  const served = new Set(
    builtInResources(36).flatMap(({ group, resource, versions, verbs, subresources }) =>
      versions.map(({ version, enabledByDefault }) =>
        [
          `${group}/${version}`,
          resource,
          enabledByDefault ? 'on' : 'off',
          [...verbs].sort().join(),
          ...(subresources.length === 0
            ? []
            : [
                subresources
                  .map(({ name }) => name)
                  .sort()
                  .join(),
              ]),
        ].join(' '),
      ),
    ),
  );
  const used = new Set<string>();
  const wrong = facts.resources.filter(
    (line) => !served.has(line) && !isListed(line, MISSING_RESOURCES, used),
  );
  expect(wrong).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(MISSING_RESOURCES).sort());
});

test('versions that Kubernetes removed are gone', () => {
  const versions = (minor: Minor): string[] =>
    builtInResources(minor).flatMap(({ group, resource, versions: all }) =>
      all.map(({ version }) => `${resource}.${group}/${version}`),
    );
  const REMOVED = {
    'flowschemas.flowcontrol.apiserver.k8s.io/v1beta3': 32,
    'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/v1beta3': 32,
    'podschedulingcontexts.resource.k8s.io/v1alpha3': 32,
    'leasecandidates.coordination.k8s.io/v1alpha1': 32,
    'resourceclaims.resource.k8s.io/v1alpha3': 34,
    'storageversionmigrations.storagemigration.k8s.io/v1alpha1': 35,
    'selfsubjectreviews.authentication.k8s.io/v1alpha1': 32,
    'selfsubjectreviews.authentication.k8s.io/v1beta1': 33,
    'validatingadmissionpolicies.admissionregistration.k8s.io/v1alpha1': 32,
    'validatingadmissionpolicies.admissionregistration.k8s.io/v1beta1': 34,
    'validatingadmissionpolicybindings.admissionregistration.k8s.io/v1alpha1': 32,
    'validatingadmissionpolicybindings.admissionregistration.k8s.io/v1beta1': 34,
    'volumeattributesclasses.storage.k8s.io/v1alpha1': 35,
  };
  for (const [name, until] of Object.entries(REMOVED))
    expect(
      MINORS.filter((minor) => versions(minor).includes(name)),
      name,
    ).toEqual(MINORS.filter((minor) => minor < until));
});

test('each version of a resource has its type, with that of its list', () => {
  for (const minor of MINORS) {
    const types = loadTypes(minor);
    for (const { versions, listKind, storage } of builtInResources(minor)) {
      expect(types.has(storage.type), storage.type).toBe(true);
      for (const { type } of versions) {
        expect(types.has(type), type).toBe(true);
        if (listKind !== '') expect(types.has(`${type}List`), `${type}List`).toBe(true);
      }
    }
  }
});

/** What the OpenAPI document of a version requires, and that of the one before does not. */
function newlyRequired(minor: Minor, before: Minor): string[] {
  const [now, then] = [loadTypes(minor), loadTypes(before)];
  const requiredIn = (types: TypeLibrary, name: string): string[] =>
    [...types.message(name).fields.values()]
      .filter(({ publishedRequired }) => publishedRequired)
      .map((field) => field.name);
  return [...now.names()]
    .filter((name) => then.has(name))
    .flatMap((name) => {
      const old = requiredIn(then, name);
      const added = requiredIn(now, name).filter((field) => !old.includes(field));
      return added.map((field) => `${name}.${field}`);
    })
    .sort();
}

test('documents require the fields that Kubernetes requires in each version', () => {
  expect(newlyRequired(33, 34)).toEqual(['networking/v1.NetworkPolicySpec.podSelector']);
  expect(newlyRequired(34, 35)).toEqual(['batch/v1.PodFailurePolicyOnPodConditionsPattern.status']);
  expect(newlyRequired(36, 35)).toEqual([
    ...['v1', 'v1alpha1', 'v1beta1'].flatMap((version) => [
      `admissionregistration/${version}.ValidatingAdmissionPolicyBinding.spec`,
      `admissionregistration/${version}.ValidatingAdmissionPolicyBindingSpec.policyName`,
      `admissionregistration/${version}.ValidatingAdmissionPolicyBindingSpec.validationActions`,
    ]),
    'apiserverinternal/v1alpha1.ServerStorageVersion.apiServerID',
    'apiserverinternal/v1alpha1.ServerStorageVersion.decodableVersions',
    'apiserverinternal/v1alpha1.ServerStorageVersion.encodingVersion',
    'apiserverinternal/v1alpha1.StorageVersion.metadata',
    'authentication/v1.TokenReviewSpec.token',
    'autoscaling/v1.HorizontalPodAutoscaler.spec',
    'autoscaling/v2.HorizontalPodAutoscaler.spec',
    'batch/v1.CronJob.spec',
    'networking/v1.IPAddress.spec',
    'networking/v1beta1.IPAddress.spec',
  ]);
  expect(newlyRequired(35, 36)).toEqual([
    'apiserverinternal/v1alpha1.StorageVersion.spec',
    'apiserverinternal/v1alpha1.StorageVersion.status',
    'authentication/v1.TokenRequest.spec',
    'authentication/v1.TokenRequestSpec.audiences',
    'authentication/v1.TokenRequestStatus.expirationTimestamp',
    'authentication/v1.TokenRequestStatus.token',
    'discovery/v1.EndpointSlice.endpoints',
    'policy/v1.PodDisruptionBudgetStatus.currentHealthy',
    'policy/v1.PodDisruptionBudgetStatus.desiredHealthy',
    'policy/v1.PodDisruptionBudgetStatus.disruptionsAllowed',
    'policy/v1.PodDisruptionBudgetStatus.expectedPods',
    'rbac/v1.RoleRef.apiGroup',
    'scheduling/v1.PriorityClass.value',
  ]);
});
