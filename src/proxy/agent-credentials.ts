import { FollowedFiles } from '../util/followed-files.ts';

export interface AgentCredentialFiles {
  /** Each '' where none is configured. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface AgentTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How long files are trusted to be what they were; new ones count within this time. */
const CHECK_MS = 1000;

/** What node agents are shown and checked by. Certificates are renewed under a running server, so the files are looked at again. */
export class AgentCredentials {
  readonly #files: FollowedFiles<AgentTls>;
  #checkedAt = Date.now();

  /** @throws Error for a file that cannot be read */
  constructor(files: AgentCredentialFiles) {
    const given = NAMES.map((name) => ({ name, path: files[`${name}File`] })).filter(
      ({ path }) => path !== '',
    );
    this.#files = new FollowedFiles({
      paths: given.map(({ path }) => path),
      make: (texts): AgentTls => Object.fromEntries(texts.map((text, at) => [given[at]?.name, text])),
    });
  }

  /** Without an authority nothing is checked, as node agents make up their own certificates (Kubernetes does the same). */
  get verifies(): boolean {
    return this.#files.current.ca !== undefined;
  }

  /** Half-replaced files are looked at again; until then the old ones are as good as they were. */
  current(): AgentTls {
    if (Date.now() - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = Date.now();
      void this.#files.look();
    }
    return this.#files.current;
  }
}

const NAMES = ['ca', 'cert', 'key'] as const;
