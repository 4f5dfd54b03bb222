import type { UserInfo } from '../../request/api-request.ts';
import { pause } from '../../util/pause.ts';
import type { AuthorizationAttributes, Authorizer, Rules, Verdict } from '../authorizer.ts';
import { parseAuthorizationConfig } from './authorization-config.ts';
import type { AuthorizerConfig, Mode } from './modes.ts';

/** How often the file is looked at, as in Kubernetes. */
const RELOAD_EVERY_MS = 60_000;

export interface ReloadingOptions {
  /** The text of the configuration file. */
  readonly read: () => Promise<string>;
  /** @throws Error when the chain cannot be built */
  readonly build: (configs: readonly AuthorizerConfig[]) => Authorizer;
  readonly onReload: () => void;
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
}

/**
 * The chain that a file configures. A file that has become wrong changes nothing. Modes other than Webhook must stay in it:
 * what they decide from is kept for as long as the server runs.
 */
export class ReloadingAuthorizer implements Authorizer {
  readonly #options: ReloadingOptions;
  readonly #modes: readonly Mode[];
  #text: string;
  #current: Authorizer;

  /** @throws Error when the file is wrong */
  static async create(options: ReloadingOptions): Promise<ReloadingAuthorizer> {
    return new ReloadingAuthorizer(options, await options.read());
  }

  private constructor(options: ReloadingOptions, text: string) {
    const configs = parseAuthorizationConfig(text);
    this.#options = options;
    this.#text = text;
    this.#modes = configs.map(({ type }) => type).filter((type) => type !== 'Webhook');
    this.#current = options.build(configs);
  }

  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict {
    return this.#current.authorize(attributes);
  }

  rules(user: UserInfo, namespace?: string): Rules {
    return this.#current.rules(user, namespace);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { everyMs = RELOAD_EVERY_MS } = this.#options;
    for (;;) {
      await pause(everyMs, signal);
      if (signal.aborted) return;
      await this.reload();
    }
  }

  /** Takes the file as it is now, if it changed and is right. */
  async reload(): Promise<void> {
    try {
      const text = await this.#options.read();
      if (text === this.#text) return;
      this.#text = text;
      this.#current = this.#options.build(parseAuthorizationConfig(text, this.#modes));
      this.#options.onReload();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
