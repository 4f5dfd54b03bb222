import type { UserInfo } from '../../request/api-request.ts';
import { FollowedFiles } from '../../util/followed-files.ts';
import type { AuthorizationAttributes, Authorizer, Rules, Verdict } from '../authorizer.ts';
import { parseAuthorizationConfig } from './authorization-config.ts';
import type { AuthorizerConfig, Mode } from './modes.ts';

/** How often the file is checked, as in Kubernetes. */
const RELOAD_EVERY_MS = 60_000;

export interface ReloadingOptions {
  readonly path: string;
  /** @throws Error when the chain cannot be built */
  readonly build: (configs: readonly AuthorizerConfig[]) => Authorizer;
  readonly onReload: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * The chain that a file configures. An invalid file changes nothing. Modes other than Webhook must stay in the file, because
 * their indexes exist for as long as the server runs.
 */
export class ReloadingAuthorizer implements Authorizer {
  readonly #file: FollowedFiles<Authorizer>;
  #modes: readonly Mode[] | undefined;

  /** @throws Error for an invalid file */
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

  /** Takes the current file, if it has changed and is valid. */
  reload(): Promise<void> {
    return this.#file.look();
  }
}
