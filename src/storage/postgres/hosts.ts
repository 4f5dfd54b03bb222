/** Which of several hosts of one database worked last: the next connection tries it first. */
export class Hosts {
  #last: string | undefined;

  order(urls: readonly string[]): readonly string[] {
    const last = this.#last;
    if (last === undefined || !urls.includes(last)) return urls;
    return [last, ...urls.filter((url) => url !== last)];
  }

  worked(url: string): void {
    this.#last = url;
  }
}
