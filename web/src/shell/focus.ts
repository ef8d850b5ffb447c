// Where the focus goes when what had it is gone: on with the work, not back to the beginning of the page.

/** Gives the focus to a place, if nothing has it. */
export function focusIfLost(place: HTMLElement | null | undefined): void {
  if (document.activeElement === null || document.activeElement === document.body) place?.focus({ preventScroll: true });
}
