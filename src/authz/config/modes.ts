import { type Authorizer, allowMasters, alwaysAllow, alwaysDeny } from '../authorizer.ts';
import { createChain } from '../chain.ts';
import type { WebhookConfig } from './webhook-config.ts';

/** The kinds of authorizers, as --authorization-mode and the configuration file name them. */
export const MODES = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;

export type Mode = (typeof MODES)[number];

export const isMode = (text: string): text is Mode => MODES.some((mode) => mode === text);

/** One link of the chain. */
export type AuthorizerConfig =
  | { readonly type: Exclude<Mode, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookConfig };

/** Authorizers other than webhooks have the name of their mode. */
export const nameOfMode = (mode: Mode): string => mode.toLowerCase();

/** The parts of a chain. An absent engine was not enabled when the server started. */
export interface Engines {
  readonly rbac?: Authorizer;
  readonly node?: Authorizer;
  readonly abac?: Authorizer;
  readonly webhook: (name: string, config: WebhookConfig) => Authorizer;
}

/** @throws Error when a link needs an absent engine */
export function buildChain(configs: readonly AuthorizerConfig[], engines: Engines): Authorizer {
  return createChain([allowMasters, ...configs.map((config) => build(config, engines))]);
}

function build(config: AuthorizerConfig, { rbac, node, abac, webhook }: Engines): Authorizer {
  switch (config.type) {
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    case 'ABAC':
      return enabled(abac, config.type);
    case 'Node':
      return enabled(node, config.type);
    case 'RBAC':
      return enabled(rbac, config.type);
    case 'Webhook':
      return webhook(config.name, config.webhook);
    default:
      return config satisfies never;
  }
}

function enabled(engine: Authorizer | undefined, mode: Mode): Authorizer {
  if (engine !== undefined) return engine;
  throw new Error(`authorizer type ${mode} is not allowed if it was not enabled at initial server startup`);
}

/**
 * The chain that --authorization-mode asks for; `webhook` comes from the flags of the webhook.
 * @throws Error
 */
export function fromModes(modes: readonly string[], webhook: WebhookConfig | undefined): AuthorizerConfig[] {
  if (new Set(modes).size < modes.length) {
    throw new Error(`authorization-mode ${JSON.stringify(modes)} has mode specified more than once`);
  }
  return modes.map((mode) => {
    if (!isMode(mode)) throw new Error(`authorization-mode ${JSON.stringify(mode)} is not a valid mode`);
    if (mode !== 'Webhook') return { type: mode, name: nameOfMode(mode) };
    if (webhook === undefined) {
      throw new Error("authorization-mode Webhook's authorization config file not passed");
    }
    return { type: mode, name: 'default', webhook };
  });
}
