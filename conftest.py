"""What holds for every test here."""

from hypothesis import settings

# A clock says how busy the machine is, not whether the code is right.
settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")
