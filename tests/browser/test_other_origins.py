"""A page of another origin, in a browser: the Prefect server of a command tells it nothing and takes nothing from it."""

import httpx
import pytest
from playwright.sync_api import Browser

from tests.model_server import ModelServer
from tests.prefect_server import PrefectServer

pytestmark = pytest.mark.long

TRY = """async ([api, socket]) => {
  const said = async answer => answer.then(found => found.text()).catch(error => error.message);
  // A body without a type needs no leave from the server to be sent, and Prefect takes it for JSON.
  const flow = new Blob([JSON.stringify({name: 'from-elsewhere'})]);
  await fetch(`${api}/flows/`, {method: 'POST', mode: 'no-cors', body: flow});
  const events = new WebSocket(socket, 'prefect');
  events.onopen = () => events.send(JSON.stringify({type: 'auth', token: null}));
  const told = new Promise(done => {
    events.onmessage = message => done(message.data);
    events.onclose = closed => done(closed.reason);
  });
  return [
    await said(fetch(`${api}/flows/filter`, {method: 'POST', body: new Blob(['{}'])})),
    await said(fetch(`${api}/flows/filter`, {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}})),
    await told,
  ];
}"""


def test_another_origin_reads_and_starts_nothing(browser: Browser, started_prefect: PrefectServer) -> None:
    api = started_prefect.url
    with ModelServer(lambda _: "") as elsewhere:
        page = browser.new_page()
        page.goto(elsewhere.url)  # whatever it answers, its origin is another port
        found = page.evaluate(TRY, [api, f"{api.replace('http', 'ws')}/events/out"])
        page.close()
    assert found == ["Failed to fetch", "Failed to fetch", "Auth required but no token provided"]
    named = {"flows": {"name": {"any_": ["from-elsewhere"]}}}
    login = httpx.BasicAuth(*started_prefect.auth.split(":", 1))
    assert httpx.post(f"{api}/flows/count", json=named, auth=login, trust_env=False).json() == 0
