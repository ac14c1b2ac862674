import { describe, expect, it } from 'vitest';
import { ApiError } from './api';
import { Submission } from './submission.svelte';

function submit(): SubmitEvent {
  return new Event('submit', { cancelable: true }) as SubmitEvent;
}

describe('form submission', () => {
  it('is busy until it completes, and prevents the native submission', async () => {
    const form = new Submission();
    const event = submit();
    let done = (): void => {};
    const sent = form.send(event, () => new Promise((resolve) => (done = resolve)));
    expect([event.defaultPrevented, form.isBusy]).toEqual([true, true]);
    done();
    await sent;
    expect([form.isBusy, form.error]).toEqual([false, null]);
  });

  it('assigns validation errors to their fields, and other errors to the form', async () => {
    const form = new Submission();
    const rejection = new ApiError(400, 'invalid_parameter', 'No.', '', [
      { field: 'label', code: 'invalid_parameter', detail: 'at most 256 characters' },
    ]);
    await form.send(submit(), () => Promise.reject(rejection));
    expect([form.isBusy, form.error]).toEqual([false, rejection]);
    expect([form.fieldError('label'), form.fieldError('scopes')]).toEqual(['At most 256 characters.', null]);
    expect([form.generalError('label', 'scopes'), form.generalError('scopes')]).toEqual([null, rejection]);

    await form.send(submit(), () => Promise.reject(new TypeError('broken')));
    expect([form.fieldError('label'), form.generalError('label')]).toEqual([null, new TypeError('broken')]);
    await form.send(submit(), () => Promise.resolve());
    expect(form.error).toBeNull();
  });
});
