"""Our schemas are registered, and what one process encodes another decodes by asking the registry."""

from schemas.events import EVENT_TYPES, OrgRegistered
from schemas.recorded import Recorded
from services.runtime.registry import decoder, encoder, register_schemas
from services.runtime.settings import Settings
from tests.fakes.records import event_record, local_decoder


def test_every_event_type_has_an_id_of_its_own_and_registering_again_gives_the_same(settings: Settings) -> None:
    ids = register_schemas(settings)
    assert set(ids) == set(EVENT_TYPES)
    assert len(set(ids.values())) == len(EVENT_TYPES)
    assert register_schemas(settings) == ids


def test_an_event_goes_through_the_registry_unharmed(settings: Settings) -> None:
    recorded = local_decoder().decode(event_record(5, OrgRegistered(org_id="acme", name="Äcme")).value)
    assert isinstance(recorded, Recorded)
    assert decoder(settings).decode(encoder(settings).encode(recorded)) == recorded
