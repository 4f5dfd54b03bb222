import { UsageError } from './flag.ts';
import type { FlagValues } from './parse.ts';

/** Who decides what callers may do. Times are in milliseconds. */
export interface AuthorizationOptions {
  /** In the order they are asked. Empty when a file configures the chain. */
  readonly authorizationModes: readonly string[];
  /** Nobody said who decides: everybody may do everything. */
  readonly authorizationIsDefault: boolean;
  readonly authorizationConfig: string;
  readonly authorizationPolicyFile: string;
  readonly authorizationWebhook: {
    readonly configFile: string;
    readonly version: 'v1' | 'v1beta1';
    readonly authorizedTtlMs: number;
    readonly unauthorizedTtlMs: number;
  };
}

const MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];

/** Flags that say what the file would say. */
const EXCLUSIVE = [
  'authorization-mode',
  'authorization-policy-file',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
];

/** @throws UsageError */
export function readAuthorization(flags: FlagValues): AuthorizationOptions {
  const authorizationConfig = flags.string('authorization-config');
  const given = flags.strings('authorization-mode');
  const version = flags.string('authorization-webhook-version');
  if (version !== 'v1' && version !== 'v1beta1') {
    throw new UsageError(`--authorization-webhook-version: ${JSON.stringify(version)} must be v1 or v1beta1`);
  }
  const authorizationIsDefault = given.length === 0 && authorizationConfig === '';
  const options: AuthorizationOptions = {
    authorizationModes: authorizationIsDefault ? ['AlwaysAllow'] : given,
    authorizationIsDefault,
    authorizationConfig,
    authorizationPolicyFile: flags.string('authorization-policy-file'),
    authorizationWebhook: {
      configFile: flags.string('authorization-webhook-config-file'),
      version,
      authorizedTtlMs: flags.duration('authorization-webhook-cache-authorized-ttl'),
      unauthorizedTtlMs: flags.duration('authorization-webhook-cache-unauthorized-ttl'),
    },
  };
  if (authorizationConfig === '') checkModes(options);
  else checkExclusive(flags);
  return options;
}

function checkExclusive(flags: FlagValues): void {
  const beside = EXCLUSIVE.find((name) => flags.isSet(name));
  if (beside !== undefined)
    throw new UsageError(`--authorization-config can not be specified when --${beside} is`);
}

function checkModes({
  authorizationModes: modes,
  authorizationPolicyFile,
  authorizationWebhook,
}: AuthorizationOptions): void {
  for (const [at, mode] of modes.entries()) {
    if (!MODES.includes(mode)) {
      throw new UsageError(
        `--authorization-mode: ${JSON.stringify(mode)} must be one of ${MODES.join(', ')}`,
      );
    }
    if (modes.indexOf(mode) !== at)
      throw new UsageError(`--authorization-mode: ${mode} is given more than once`);
  }
  const files = [
    ['ABAC', 'authorization-policy-file', authorizationPolicyFile],
    ['Webhook', 'authorization-webhook-config-file', authorizationWebhook.configFile],
  ] as const;
  for (const [mode, flag, path] of files) {
    if (modes.includes(mode) && path === '')
      throw new UsageError(`--authorization-mode=${mode} needs --${flag}`);
    if (!modes.includes(mode) && path !== '')
      throw new UsageError(`--${flag} is only for --authorization-mode=${mode}`);
  }
}

export const allowsEverything = ({ authorizationModes }: AuthorizationOptions): boolean =>
  authorizationModes.includes('AlwaysAllow');
