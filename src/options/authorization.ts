import { BlockList, isIP } from 'node:net';
import { apiFlags } from './api.ts';
import { reviewVersion } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import type { FeatureGates } from './feature-gates.ts';
import { duration, list, text, UsageError } from './flag.ts';
import { listenerFlags, type ServingOptions } from './serving.ts';

export const authorizationFlags = {
  modes: list('authorization-mode', {
    default: [],
    meaning:
      'ordered plug-ins: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node; AlwaysAllow when there is no --authorization-config, which only a loopback --bind-address may be left to',
  }),
  configFile: text('authorization-config', {
    default: '',
    meaning:
      'authorizer chain file; needs StructuredAuthorizationConfiguration; exclusive with the other authorization-mode and authorization-webhook flags',
  }),
  policyFile: text('authorization-policy-file', {
    default: '',
    meaning: 'line-by-line JSON policy for the ABAC mode',
  }),
  webhookConfigFile: text('authorization-webhook-config-file', {
    default: '',
    meaning: 'client configuration format file for the Webhook mode',
  }),
  webhookVersion: text('authorization-webhook-version', {
    default: 'v1beta1',
    meaning: 'SubjectAccessReview version sent and expected',
    check: reviewVersion,
  }),
  authorizedTtlMs: duration('authorization-webhook-cache-authorized-ttl', {
    default: '5m0s',
    meaning: 'cache time of allow answers',
  }),
  unauthorizedTtlMs: duration('authorization-webhook-cache-unauthorized-ttl', {
    default: '30s',
    meaning: 'cache time of deny answers',
  }),
};

/** How the rights of callers are decided. Times are in milliseconds. */
export type AuthorizationOptions = ReturnType<typeof readAuthorization>;

const MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];

/** @throws UsageError */
export function readAuthorization(line: CommandLine, gates: FeatureGates) {
  const { modes: given, configFile, policyFile, ...webhook } = line.valuesOf(authorizationFlags);
  checkSelectors(gates);
  const isDefault = given.length === 0 && configFile === '';
  const modes = isDefault ? ['AlwaysAllow'] : given;
  if (configFile === '') checkModes(modes, { policyFile, webhookConfigFile: webhook.webhookConfigFile });
  else checkConfigFile(line, gates);
  return Object.freeze({
    /** In calling order. Empty when a file configures the chain. */
    modes,
    /** No flag names an authorizer: all users may do everything. */
    isDefault,
    allowsEverything: modes.includes('AlwaysAllow'),
    configFile,
    policyFile,
    webhook: {
      configFile: webhook.webhookConfigFile,
      version: webhook.webhookVersion,
      authorizedTtlMs: webhook.authorizedTtlMs,
      unauthorizedTtlMs: webhook.unauthorizedTtlMs,
    },
  });
}

/** Restricting nodes by selectors requires that authorization sees selectors. */
function checkSelectors(gates: FeatureGates): void {
  if (gates.isEnabled('AuthorizeNodeWithSelectors') && !gates.isEnabled('AuthorizeWithSelectors'))
    throw new UsageError(
      `${apiFlags.featureGates.shown}: AuthorizeNodeWithSelectors needs AuthorizeWithSelectors=true`,
    );
}

/** The other flags configure the same as the file. */
function checkConfigFile(line: CommandLine, gates: FeatureGates): void {
  const { configFile, ...others } = authorizationFlags;
  if (!gates.isEnabled('StructuredAuthorizationConfiguration')) {
    const needed = `${apiFlags.featureGates.shown}=StructuredAuthorizationConfiguration=true`;
    throw new UsageError(`${configFile.shown} needs ${needed}`);
  }
  const beside = Object.values(others).find((flag) => line.isGiven(flag));
  if (beside !== undefined)
    throw new UsageError(`${configFile.shown} can not be specified when ${beside.shown} is`);
}

function checkModes(
  modes: readonly string[],
  files: Readonly<Record<'policyFile' | 'webhookConfigFile', string>>,
): void {
  const { shown } = authorizationFlags.modes;
  for (const [at, mode] of modes.entries()) {
    if (!MODES.includes(mode))
      throw new UsageError(`${shown}: ${JSON.stringify(mode)} must be one of ${MODES.join(', ')}`);
    if (modes.indexOf(mode) !== at) throw new UsageError(`${shown}: ${mode} is given more than once`);
  }
  for (const [mode, file] of [
    ['ABAC', 'policyFile'],
    ['Webhook', 'webhookConfigFile'],
  ] as const) {
    const flag = authorizationFlags[file].shown;
    if (modes.includes(mode) && files[file] === '') throw new UsageError(`${shown}=${mode} needs ${flag}`);
    if (!modes.includes(mode) && files[file] !== '')
      throw new UsageError(`${flag} is only for ${shown}=${mode}`);
  }
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Kubernetes' default, AlwaysAllow, permits everything to all users. That suits a developer's own machine; on any other address
 * it must be set explicitly.
 * @throws UsageError
 */
export function checkExposure(
  { bindAddress }: Pick<ServingOptions, 'bindAddress'>,
  { isDefault }: AuthorizationOptions,
): void {
  if (!isDefault || isLoopback(bindAddress)) return;
  const address = bindAddress === '' ? 'all addresses' : bindAddress;
  const [mode, bind] = [authorizationFlags.modes.shown, listenerFlags.bindAddress.shown];
  throw new UsageError(
    `${mode} is not given, and without it everybody with credentials may do everything on ${address}: add ${mode}=Node,RBAC, which "pg-apiserver start" does, or ${bind}=127.0.0.1, or ${mode}=AlwaysAllow if that is meant`,
  );
}

function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
