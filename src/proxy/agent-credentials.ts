import { readFileSync, statSync } from 'node:fs';

export interface AgentCredentialFiles {
  /** Each '' where none is configured. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface AgentTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

/** How long files are trusted to be what they were; new ones count within this time. */
const CHECK_MS = 1000;

/** What node agents are shown and checked by. Certificates are renewed under a running server, so the files are looked at again. */
export class AgentCredentials {
  readonly #files: AgentCredentialFiles;
  #tls: AgentTls;
  #stamp: string;
  #checkedAt = Date.now();

  /** @throws Error for a file that cannot be read */
  constructor(files: AgentCredentialFiles) {
    this.#files = files;
    this.#stamp = this.#stampOf();
    this.#tls = this.#read();
  }

  /** Without an authority nothing is checked, as node agents make up their own certificates (Kubernetes does the same). */
  get verifies(): boolean {
    return this.#files.caFile !== '';
  }

  current(): AgentTls {
    if (Date.now() - this.#checkedAt < CHECK_MS) return this.#tls;
    this.#checkedAt = Date.now();
    try {
      const stamp = this.#stampOf();
      if (stamp !== this.#stamp) {
        this.#tls = this.#read();
        this.#stamp = stamp;
      }
    } catch {
      // Half-replaced files are looked at again; until then the old ones are as good as they were.
    }
    return this.#tls;
  }

  #stampOf(): string {
    const { caFile, certFile, keyFile } = this.#files;
    return [caFile, certFile, keyFile]
      .filter((file) => file !== '')
      .map((file) => statSync(file))
      .map(({ mtimeMs, ino, size }) => `${mtimeMs} ${ino} ${size}`)
      .join();
  }

  #read(): AgentTls {
    const { caFile, certFile, keyFile } = this.#files;
    return {
      ...(caFile === '' ? {} : { ca: readFileSync(caFile) }),
      ...(certFile === '' ? {} : { cert: readFileSync(certFile) }),
      ...(keyFile === '' ? {} : { key: readFileSync(keyFile) }),
    };
  }
}
