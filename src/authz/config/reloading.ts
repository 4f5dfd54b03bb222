import type { UserInfo } from '../../request/api-request.ts';
import { FollowedFiles } from '../../util/followed-files.ts';
import type { AuthorizationAttributes, Authorizer, Rules, Verdict } from '../authorizer.ts';
import { parseAuthorizationConfig } from './authorization-config.ts';
import type { AuthorizerConfig, Mode } from './modes.ts';

/** How often the file is looked at, as in Kubernetes. */
const RELOAD_EVERY_MS = 60_000;

export interface ReloadingOptions {
  readonly path: string;
  /** @throws Error when the chain cannot be built */
  readonly build: (configs: readonly AuthorizerConfig[]) => Authorizer;
  readonly onReload: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * The chain that a file configures. A file that has become wrong changes nothing. Modes other than Webhook must stay in it:
 * what they decide from is kept for as long as the server runs.
 */
export class ReloadingAuthorizer implements Authorizer {
  readonly #file: FollowedFiles<Authorizer>;
  #modes: readonly Mode[] | undefined;

  /** @throws Error when the file is wrong */
  constructor({ path, build, onReload, onError }: ReloadingOptions) {
    const make = ([text = '']: readonly string[]): Authorizer => {
      const configs = parseAuthorizationConfig(text, this.#modes);
      this.#modes ??= configs.map(({ type }) => type).filter((type) => type !== 'Webhook');
      return build(configs);
    };
    const everyMs = RELOAD_EVERY_MS;
    this.#file = new FollowedFiles({ paths: [path], make, onChange: onReload, onError, everyMs });
  }

  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict {
    return this.#file.current.authorize(attributes);
  }

  rules(user: UserInfo, namespace?: string): Rules {
    return this.#file.current.rules(user, namespace);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#file.run(signal);
  }

  /** Takes the file as it is now, if it changed and is right. */
  reload(): Promise<void> {
    return this.#file.look();
  }
}
