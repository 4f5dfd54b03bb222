import { type GroupResource, parseQualifiedResource } from '../../api/names.ts';
import type { FieldError } from '../../api/status.ts';
import { invalidValue, required } from '../../object/field-errors.ts';

/**
 * Returns what is wrong with the resources of one rule (apiserver/validation/validation_encryption.go), and those that an earlier
 * rule masks (server/options/encryptionconfig/config.go). Adds them to `seen`, the resources of earlier rules.
 */
export function resourceProblems(
  resources: readonly string[],
  path: string,
  seen: Set<string>,
): FieldError[] {
  const problems: FieldError[] = [];
  if (resources.length === 0) problems.push(required(path, `at least one ${path} is required`));
  if (new Set(resources).size < resources.length)
    problems.push(invalidValue(path, resources, 'the same resource cannot be specified multiple times'));
  if (overlaps(resources.map(parseQualifiedResource))) {
    const why =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
    problems.push(invalidValue(path, resources, why));
  }
  for (const [at, resource] of resources.entries()) {
    const why = nameProblem(resource) ?? maskProblem(resource, seen);
    if (why !== undefined) problems.push(invalidValue(`${path}[${at}]`, resource, why));
  }
  for (const resource of resources) seen.add(resource);
  return problems;
}

function overlaps(resources: readonly GroupResource[]): boolean {
  return resources.some((one, i) =>
    resources.some((other, j) => {
      if (i === j || (one.group === other.group && one.resource === other.resource)) return false;
      if (isEverything(one)) return true;
      return one.group === other.group && (one.resource === '*' || other.resource === '*');
    }),
  );
}

const isEverything = ({ group, resource }: GroupResource): boolean => group === '*' && resource === '*';

/** Resources without an API. */
const INTERNAL = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

function nameProblem(text: string): string | undefined {
  const { group, resource } = parseQualifiedResource(text);
  if (text.toLowerCase() !== text) return 'resource name should not contain capital letters';
  if (text === '*')
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (INTERNAL.includes(text)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
}

function maskProblem(text: string, seen: ReadonlySet<string>): string | undefined {
  const { group } = parseQualifiedResource(text);
  const mask = [`*.${group}`, '*.*'].find((one) => seen.has(one));
  return mask === undefined ? undefined : `resource "${text}" is masked by earlier rule "${mask}"`;
}
